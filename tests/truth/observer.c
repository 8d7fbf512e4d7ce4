/* Positions of a traced program as the kernel knows them, written down at every stop.
 *
 * Preloaded into strace, not into the program: strace resumes a task with ptrace(2), and asks for
 * the call of a stop with PTRACE_GET_SYSCALL_INFO. At that moment the task stands still, so
 * /proc/TID/fdinfo/FD says where each of its descriptors is, before the call and after it. The
 * program runs as it would without, the log is the one that strace writes anyway, and static
 * programs and raw system calls are seen like all others.
 *
 * TRACEFAST_TRUTH names the file of the records: a line for each call that ended, whose columns
 * are COLUMNS below.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/audit.h>
#include <linux/ptrace.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#define COLUMNS                                                                                   \
    "tid\tcall\tret\tfd\tflags\tbefore\tafter\tsize_before\tsize_after\ttype\tinode\tpath\t"      \
    "fd2\tflags2\tbefore2\tafter2\tsize_before2\tsize_after2\ttype2\tinode2\tpath2\t"             \
    "offset\toffset2\tword\tappend\n"

enum { NONE = -1 };
enum data { NO_DATA, BUFFER, VECTOR };

/* What is where in the arguments of a call. */
struct call {
    long number;
    const char *name;
    int fd, fd2;
    int offset, offset2;
    int pointers; /* The offsets are behind pointers. */
    enum data data;
    int write;
    int rwf; /* Flags of pwritev2. */
};

static const struct call CALLS[] = {
    {SYS_read, "read", 0, NONE, NONE, NONE, 0, BUFFER, 0, NONE},
    {SYS_write, "write", 0, NONE, NONE, NONE, 0, BUFFER, 1, NONE},
    {SYS_readv, "readv", 0, NONE, NONE, NONE, 0, VECTOR, 0, NONE},
    {SYS_writev, "writev", 0, NONE, NONE, NONE, 0, VECTOR, 1, NONE},
    {SYS_pread64, "pread64", 0, NONE, 3, NONE, 0, BUFFER, 0, NONE},
    {SYS_pwrite64, "pwrite64", 0, NONE, 3, NONE, 0, BUFFER, 1, NONE},
    {SYS_preadv, "preadv", 0, NONE, 3, NONE, 0, VECTOR, 0, NONE},
    {SYS_pwritev, "pwritev", 0, NONE, 3, NONE, 0, VECTOR, 1, NONE},
    {SYS_preadv2, "preadv2", 0, NONE, 3, NONE, 0, VECTOR, 0, NONE},
    {SYS_pwritev2, "pwritev2", 0, NONE, 3, NONE, 0, VECTOR, 1, 5},
    {SYS_sendfile, "sendfile", 1, 0, 2, NONE, 1, NO_DATA, 0, NONE},
    {SYS_splice, "splice", 0, 2, 1, 3, 1, NO_DATA, 0, NONE},
    {SYS_copy_file_range, "copy_file_range", 0, 2, 1, 3, 1, NO_DATA, 0, NONE},
    {SYS_io_submit, "io_submit", NONE, NONE, NONE, NONE, 0, NO_DATA, 0, NONE},
};

/* One end of a call. */
struct side {
    int fd;
    int known;
    long long before, after;
    unsigned flags;
    struct stat first, last;
    int has_last;
    char path[512];
};

#define PARTS 16

struct task {
    int tid;
    const struct call *call;
    struct side sides[2];
    long long offset[2];
    int has_offset[2];
    uint64_t buffer;
    uint64_t word;
    int has_word;
    unsigned long long rwf;
    int parts;
    struct iocb part[PARTS];
    struct side part_side[PARTS];
};

static int output = -1;
static struct task *tasks;
static size_t count, room;

__attribute__((constructor)) static void start(void) {
    /* What strace starts is not observed from within. */
    unsetenv("LD_PRELOAD");
    const char *name = getenv("TRACEFAST_TRUTH");
    if (!name) return;
    int made = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    output = fcntl(made, F_DUPFD_CLOEXEC, 700);
    close(made);
    unsetenv("TRACEFAST_TRUTH");
    if (write(output, COLUMNS, sizeof COLUMNS - 1) < 0) abort();
}

static struct task *find(int tid) {
    for (size_t i = 0; i < count; i++)
        if (tasks[i].tid == tid) return &tasks[i];
    if (count == room) {
        room = room ? 2 * room : 16;
        tasks = realloc(tasks, room * sizeof *tasks);
        if (!tasks) abort();
    }
    struct task *task = &tasks[count++];
    memset(task, 0, sizeof *task);
    task->tid = tid;
    return task;
}

static int copy(int tid, uint64_t from, void *to, size_t size) {
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)from, size};
    return process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* Position and flags, from fdinfo. */
static int look(int tid, int fd, long long *position, unsigned *flags) {
    char name[64], text[512];
    snprintf(name, sizeof name, "/proc/%d/fdinfo/%d", tid, fd);
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    if (size <= 0) return 0;
    text[size] = 0;
    return sscanf(text, "pos: %lld flags: %o", position, flags) == 2;
}

static void size_of(int tid, int fd, struct stat *status) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/fd/%d", tid, fd);
    if (stat(name, status)) memset(status, 0, sizeof *status);
}

static void enter_side(int tid, int fd, struct side *side) {
    memset(side, 0, sizeof *side);
    side->fd = fd;
    side->known = fd >= 0 && look(tid, fd, &side->before, &side->flags);
    if (!side->known) return;
    size_of(tid, fd, &side->first);
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/fd/%d", tid, fd);
    ssize_t length = readlink(name, side->path, sizeof side->path - 1);
    side->path[length < 0 ? 0 : length] = 0;
    for (char *at = side->path; *at; at++)
        if (*at == '\t' || *at == '\n') *at = '?';
}

static void leave_side(int tid, struct side *side) {
    unsigned flags;
    struct stat now;
    side->after = -1;
    side->has_last = 0;
    if (!side->known || !look(tid, side->fd, &side->after, &flags)) return;
    size_of(tid, side->fd, &now);
    /* Another task may have put another file there. */
    if (now.st_ino != side->first.st_ino || now.st_dev != side->first.st_dev) {
        side->after = -1;
        return;
    }
    side->last = now;
    side->has_last = 1;
}

static uint64_t data_of(int tid, const struct call *call, const uint64_t *arguments) {
    struct iovec first = {0, 0};
    if (call->data == BUFFER) return arguments[1];
    if (call->data == VECTOR && copy(tid, arguments[1], &first, sizeof first))
        return (uintptr_t)first.iov_base;
    return 0;
}

static void enter(int tid, uint64_t number, const uint64_t *arguments) {
    struct task *task = find(tid);
    task->call = NULL;
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
        if ((uint64_t)CALLS[i].number == number) task->call = &CALLS[i];
    const struct call *call = task->call;
    if (!call) return;
    enter_side(tid, call->fd == NONE ? -1 : (int)arguments[call->fd], &task->sides[0]);
    enter_side(tid, call->fd2 == NONE ? -1 : (int)arguments[call->fd2], &task->sides[1]);
    const int places[2] = {call->offset, call->offset2};
    for (int i = 0; i < 2; i++) {
        task->has_offset[i] = 0;
        if (places[i] == NONE) continue;
        uint64_t value = arguments[places[i]];
        if (call->pointers)
            task->has_offset[i] = value && copy(tid, value, &task->offset[i], sizeof task->offset[i]);
        else {
            task->offset[i] = (long long)value;
            task->has_offset[i] = (long long)value != -1;
        }
    }
    task->rwf = call->rwf == NONE ? 0 : arguments[call->rwf];
    task->buffer = data_of(tid, call, arguments);
    task->has_word = call->write && copy(tid, task->buffer, &task->word, sizeof task->word);
    task->parts = 0;
    if (number == SYS_io_submit) {
        for (int i = 0; i < (int)arguments[1] && i < PARTS; i++) {
            uint64_t where;
            if (!copy(tid, arguments[2] + 8 * i, &where, 8)) break;
            if (!copy(tid, where, &task->part[i], sizeof task->part[i])) break;
            enter_side(tid, task->part[i].aio_fildes, &task->part_side[i]);
            task->parts = i + 1;
        }
    }
}

static int put_side(char *to, size_t size, const struct side *side) {
    if (!side->known) return snprintf(to, size, "\t%d\t\t\t\t\t\t\t\t", side->fd);
    char after[32] = "", last[32] = "";
    if (side->after >= 0) snprintf(after, sizeof after, "%lld", side->after);
    if (side->has_last) snprintf(last, sizeof last, "%lld", (long long)side->last.st_size);
    unsigned mode = side->first.st_mode & S_IFMT;
    const char *type = mode == S_IFREG   ? "regular"
                       : mode == S_IFBLK ? "block"
                       : mode == S_IFCHR ? "char"
                       : mode == S_IFIFO ? "pipe"
                       : mode == S_IFSOCK ? "socket"
                       : mode == S_IFDIR ? "directory"
                                         : "anon";
    return snprintf(to, size, "\t%d\t%u\t%lld\t%s\t%lld\t%s\t%s\t%x:%llu\t%s", side->fd, side->flags,
                    side->before, after, (long long)side->first.st_size, last, type,
                    (unsigned)side->first.st_dev, (unsigned long long)side->first.st_ino,
                    side->path);
}

static void put(int tid, const char *name, long long ret, const struct side *first,
                const struct side *second, const struct task *task, const long long *offset) {
    char line[2048];
    size_t at = (size_t)snprintf(line, sizeof line, "%d\t%s\t%lld", tid, name, ret);
    at += (size_t)put_side(line + at, sizeof line - at, first);
    at += (size_t)put_side(line + at, sizeof line - at, second);
    for (int i = 0; i < 2; i++) {
        at += (size_t)snprintf(line + at, sizeof line - at, "\t");
        if (offset && i == 0)
            at += (size_t)snprintf(line + at, sizeof line - at, "%lld", *offset);
        else if (!offset && task->has_offset[i])
            at += (size_t)snprintf(line + at, sizeof line - at, "%lld", task->offset[i]);
    }
    at += (size_t)snprintf(line + at, sizeof line - at, "\t");
    if (task->has_word && !offset)
        at += (size_t)snprintf(line + at, sizeof line - at, "%llu", (unsigned long long)task->word);
    int append = first->known && (first->flags & O_APPEND) != 0;
    if (task->rwf & 0x10) append = 1; /* RWF_APPEND */
    if (task->rwf & 0x20) append = 0; /* RWF_NOAPPEND */
    at += (size_t)snprintf(line + at, sizeof line - at, "\t%d\n", append);
    if (write(output, line, at) != (ssize_t)at) abort();
}

static void leave(int tid, long long ret, int failed) {
    struct task *task = find(tid);
    const struct call *call = task->call;
    task->call = NULL;
    if (!call || failed) return;
    for (int i = 0; i < task->parts && i < ret; i++) {
        static const char *const NAMES[] = {"pread", "pwrite", "fsync", "fdsync",
                                            "",      "poll",   "noop",  "preadv", "pwritev"};
        const struct iocb *part = &task->part[i];
        const struct side none = {.fd = -1};
        const char *name = part->aio_lio_opcode < 9 ? NAMES[part->aio_lio_opcode] : "";
        const long long offset = part->aio_offset;
        leave_side(tid, &task->part_side[i]);
        put(tid, name, (long long)part->aio_nbytes, &task->part_side[i], &none, task, &offset);
    }
    if (task->parts) return;
    leave_side(tid, &task->sides[0]);
    leave_side(tid, &task->sides[1]);
    if (!call->write) {
        task->has_word = call->data != NO_DATA && ret >= 8 &&
                         copy(tid, task->buffer, &task->word, sizeof task->word);
    }
    put(tid, call->name, ret, &task->sides[0], &task->sides[1], task, NULL);
}

/* glibc declares the first parameter as an enumeration; its size is that of int. */
long ptrace(int request, ...) {
    static long (*real)(int, ...);
    if (!real) real = (long (*)(int, ...))dlsym(RTLD_NEXT, "ptrace");
    va_list list;
    va_start(list, request);
    int tid = va_arg(list, int);
    void *address = va_arg(list, void *);
    void *data = va_arg(list, void *);
    va_end(list);
    long result = real(request, tid, address, data);
    if (request != PTRACE_GET_SYSCALL_INFO || result <= 0 || output < 0) return result;
    int saved = errno;
    const struct ptrace_syscall_info *info = data;
#ifdef __x86_64__
    if (info->arch != AUDIT_ARCH_X86_64) return result;
#endif
    if (info->op == PTRACE_SYSCALL_INFO_ENTRY)
        enter(tid, info->entry.nr, (const uint64_t *)info->entry.args);
    else if (info->op == PTRACE_SYSCALL_INFO_SECCOMP)
        enter(tid, info->seccomp.nr, (const uint64_t *)info->seccomp.args);
    else if (info->op == PTRACE_SYSCALL_INFO_EXIT)
        leave(tid, info->exit.rval, info->exit.is_error);
    errno = saved;
    return result;
}
