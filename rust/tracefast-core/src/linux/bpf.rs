//! Commands of bpf(2): `enum bpf_cmd` in the kernel's `include/uapi/linux/bpf.h`.

/// Commands that return a descriptor, by name and number.
pub(crate) static COMMANDS_THAT_OPEN: [(&[u8], i64); 13] = [
    (b"BPF_MAP_CREATE", 0),
    (b"BPF_PROG_LOAD", 5),
    (b"BPF_OBJ_GET", 7),
    (b"BPF_PROG_GET_FD_BY_ID", 13),
    (b"BPF_MAP_GET_FD_BY_ID", 14),
    (b"BPF_RAW_TRACEPOINT_OPEN", 17),
    (b"BPF_BTF_LOAD", 18),
    (b"BPF_BTF_GET_FD_BY_ID", 19),
    (b"BPF_LINK_CREATE", 28),
    (b"BPF_LINK_GET_FD_BY_ID", 30),
    (b"BPF_ENABLE_STATS", 32),
    (b"BPF_ITER_CREATE", 33),
    (b"BPF_TOKEN_CREATE", 36),
];
