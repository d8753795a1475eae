"""The filter of system calls in a sandbox: kernel objects of the user that no namespace separates.

A key of the kernel's keyrings belongs to the user, whatever namespace asks for it. Programs of the kernel
(bpf) and counters of its events see other processes. A socket to the hypervisor or a radio belongs to no
network namespace, so only the families below are opened. What this filter cannot look into (`io_uring`, and
`socketcall` of 32-bit programs) is refused. The calls answer as on a kernel without them. Docker refuses the
same. (boundary.md, section 3; field lesson 126)

A lease on a file, which `fcntl` takes with a read-only descriptor too, stops everybody who opens it for
writing for up to 45 s. (field lesson 138)
"""

import errno
import struct

# linux/audit.h. Of add_key, request_key, keyctl, perf_event_open, bpf, io_uring_setup, socketcall.
_X86_64, _AARCH64, _I386, _ARM = 0xC000003E, 0xC00000B7, 0x40000003, 0x40000028
_CALLS = {
    _X86_64: (248, 249, 250, 298, 321, 425),
    _AARCH64: (217, 218, 219, 241, 280, 425),
    _I386: (286, 287, 288, 336, 357, 425, 102),
    _ARM: (309, 310, 311, 364, 386, 425),
}
_SOCKET = {_X86_64: 41, _AARCH64: 198, _I386: 359, _ARM: 281}
_FAMILIES = (0, 1, 2, 10, 16, 17)  # none, unix, inet, inet6, netlink, packet
_FCNTL = {_X86_64: (72,), _AARCH64: (25,), _I386: (55, 221), _ARM: (55, 221)}  # fcntl, fcntl64
_LEASES = (1024, 1040)  # linux/fcntl.h: F_SETLEASE, F_SETDELEG
_X32 = 0x40000000  # is added to the numbers of x86-64 in its 32-bit form
# linux/bpf_common.h and linux/seccomp.h
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER_AT, _MACHINE_AT, _FIRST_AT, _SECOND_AT = 0, 4, 16, 24  # in struct seccomp_data
_ALLOW, _REFUSE, _NO_FAMILY = 0x7FFF0000, 0x00050000 | errno.ENOSYS, 0x00050000 | errno.EAFNOSUPPORT
_NO_LEASE = 0x00050000 | errno.EINVAL


def filter_program() -> bytes:
    """Return the filter in the kernel's form, as bubblewrap's `--seccomp` reads it."""
    lines: list[tuple[int, int, int, int]] = [(_LOAD, 0, 0, _MACHINE_AT)]
    for machine, calls in _CALLS.items():
        shifts = (0, _X32) if machine == _X86_64 else (0,)
        numbers = [shift + one for shift in shifts for one in calls]
        sockets = [shift + _SOCKET[machine] for shift in shifts]
        controls = [shift + one for shift in shifts for one in _FCNTL[machine]]
        refused = [(_RETURN, 0, 0, _REFUSE)]
        family = [(_LOAD, 0, 0, _FIRST_AT)]
        family += [(_EQUAL, len(_FAMILIES) - at, 0, one) for at, one in enumerate(_FAMILIES)]
        family += [(_RETURN, 0, 0, _NO_FAMILY), (_RETURN, 0, 0, _ALLOW)]
        lease = [(_LOAD, 0, 0, _SECOND_AT)]
        lease += [(_EQUAL, len(_LEASES) - at, 0, one) for at, one in enumerate(_LEASES)]
        lease += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _NO_LEASE)]
        # Each number leads to its part below: the jumps count the lines between.
        parts = ((numbers, 0), (sockets, len(refused)), (controls, len(refused) + len(family)))
        leading = [(one, after) for found, after in parts for one in found]
        block = [(_LOAD, 0, 0, _NUMBER_AT)]
        block += [(_EQUAL, len(leading) - at + after, 0, one) for at, (one, after) in enumerate(leading)]
        block += [(_RETURN, 0, 0, _ALLOW), *refused, *family, *lease]
        lines += [(_EQUAL, 0, len(block), machine), *block]
    return b"".join(struct.pack("=HBBI", *one) for one in [*lines, (_RETURN, 0, 0, _ALLOW)])
