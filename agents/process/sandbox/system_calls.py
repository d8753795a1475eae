"""The filter of system calls in a sandbox: kernel objects of the user that no namespace separates.

A key of the kernel's keyrings belongs to the user, whatever namespace asks for it. Programs of the kernel
(bpf) and counters of its events see other processes. A socket to the hypervisor or a radio belongs to no
network namespace, so only the families below are opened. What this filter cannot look into (`io_uring`, and
`socketcall` of 32-bit programs) is refused. The calls answer as on a kernel without them. Docker refuses the
same. (boundary.md, section 3; field lesson 126)
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
_X32 = 0x40000000  # is added to the numbers of x86-64 in its 32-bit form
# linux/bpf_common.h and linux/seccomp.h
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER_AT, _MACHINE_AT, _FIRST_AT = 0, 4, 16  # in struct seccomp_data
_ALLOW, _REFUSE, _NO_FAMILY = 0x7FFF0000, 0x00050000 | errno.ENOSYS, 0x00050000 | errno.EAFNOSUPPORT


def filter_program() -> bytes:
    """Return the filter in the kernel's form, as bubblewrap's `--seccomp` reads it."""
    lines: list[tuple[int, int, int, int]] = [(_LOAD, 0, 0, _MACHINE_AT)]
    for machine, calls in _CALLS.items():
        shifts = (0, _X32) if machine == _X86_64 else (0,)
        numbers = [shift + one for shift in shifts for one in calls]
        sockets = [shift + _SOCKET[machine] for shift in shifts]
        block = [(_LOAD, 0, 0, _NUMBER_AT)]
        block += [(_EQUAL, len(numbers) + len(sockets) - at, 0, one) for at, one in enumerate(numbers)]
        block += [(_EQUAL, len(sockets) + 1 - at, 0, one) for at, one in enumerate(sockets)]
        block += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE), (_LOAD, 0, 0, _FIRST_AT)]
        block += [(_EQUAL, len(_FAMILIES) - at, 0, one) for at, one in enumerate(_FAMILIES)]
        block += [(_RETURN, 0, 0, _NO_FAMILY), (_RETURN, 0, 0, _ALLOW)]
        lines += [(_EQUAL, 0, len(block), machine), *block]
    return b"".join(struct.pack("=HBBI", *one) for one in [*lines, (_RETURN, 0, 0, _ALLOW)])
