"""The filter of system calls in a sandbox: kernel objects of the user that no namespace separates.

A key of the kernel's keyrings belongs to the user, whatever namespace asks for it. Programs of the kernel
(bpf) and counters of its events see other processes. The calls answer as on a kernel without them. Docker
refuses the same. (boundary.md, section 3; field lesson 126)
"""

import errno
import struct

# linux/audit.h, and the numbers of add_key, request_key, keyctl, perf_event_open, bpf.
_X86_64, _AARCH64, _I386, _ARM = 0xC000003E, 0xC00000B7, 0x40000003, 0x40000028
_CALLS = {
    _X86_64: (248, 249, 250, 298, 321),
    _AARCH64: (217, 218, 219, 241, 280),
    _I386: (286, 287, 288, 336, 357),
    _ARM: (309, 310, 311, 364, 386),
}
_X32 = 0x40000000  # is added to the numbers of x86-64 in its 32-bit form
# linux/bpf_common.h and linux/seccomp.h
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER_AT, _MACHINE_AT = 0, 4  # in struct seccomp_data
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.ENOSYS


def filter_program() -> bytes:
    """Return the filter in the kernel's form, as bubblewrap's `--seccomp` reads it."""
    lines: list[tuple[int, int, int, int]] = [(_LOAD, 0, 0, _MACHINE_AT)]
    for machine, calls in _CALLS.items():
        numbers = [*calls, *(_X32 + one for one in calls if machine == _X86_64)]
        lines += [(_EQUAL, 0, len(numbers) + 3, machine), (_LOAD, 0, 0, _NUMBER_AT)]
        lines += [(_EQUAL, len(numbers) - at, 0, one) for at, one in enumerate(numbers)]
        lines += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    return b"".join(struct.pack("=HBBI", *one) for one in [*lines, (_RETURN, 0, 0, _ALLOW)])
