"""A program in C for libbpf: one file with the part for the kernel and the part that loads it."""

from collections.abc import Sequence
from typing import Final

from tracefast.analysis.hooks.scripts.watched_calls import WatchedCall, comment

# The layout of the records of system calls is the same in all kernels; that of sched_process_fork
# is not (6.16 has its names elsewhere), so births are seen by the kernel's own types instead.
_HEAD: Final = """\
// Watch system calls of a process and of its children with libbpf. Made by tracefast hooks.
//
//   clang -O2 -g -target bpf -c FILE -o watch.bpf.o        the part for the kernel
//   cc FILE -o watch -lbpf                                 the part that loads it
//   sudo ./watch PID                                       until the process ends, or Ctrl-C
//
// clang finds asm/types.h with -I/usr/include/$(uname -m)-linux-gnu on Debian and Ubuntu. The
// kernel needs its own types (BTF).
//
"""
_SHARED: Final = """
struct failed {
	unsigned int call;
	unsigned int error;
};
struct bin {
	unsigned int call;
	unsigned int slot;
};

#ifdef __bpf__
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "GPL";

#define TABLE(name, key_type)                                                \\
	struct {                                                             \\
		__uint(type, BPF_MAP_TYPE_HASH);                             \\
		__uint(max_entries, 65536);                                  \\
		__type(key, key_type);                                       \\
		__type(value, __u64);                                        \\
	} name SEC(".maps")

TABLE(traced, __u32);
TABLE(start, __u32);
TABLE(calls, __u32);
TABLE(bytes, __u32);
TABLE(errors, struct failed);
TABLE(us, struct bin);
TABLE(task_ns, __u32);

struct task_struct {
	int pid;
	int tgid;
} __attribute__((preserve_access_index));

struct exit_record {
	__u64 common;
	long id;
	long ret;
};

static void add(void *map, const void *key, __u64 amount)
{
	__u64 zero = 0, *value = bpf_map_lookup_elem(map, key);

	if (!value) {
		bpf_map_update_elem(map, key, &zero, BPF_NOEXIST);
		value = bpf_map_lookup_elem(map, key);
	}
	if (value)
		__sync_fetch_and_add(value, amount);
}

static void enter(__u32 call)
{
	__u32 tid = bpf_get_current_pid_tgid();
	__u64 now = bpf_ktime_get_ns();

	if (!bpf_map_lookup_elem(&traced, &tid))
		return;
	add(&calls, &call, 1);
	bpf_map_update_elem(&start, &tid, &now, BPF_ANY);
}

static void leave(__u32 call, struct exit_record *record, int moves)
{
	__u32 tid = bpf_get_current_pid_tgid();
	__u64 *begun = bpf_map_lookup_elem(&start, &tid);
	struct failed failed = { .call = call, .error = -record->ret };
	struct bin bin = { .call = call };
	__u64 ns;

	if (!begun)
		return;
	ns = bpf_ktime_get_ns() - *begun;
	bpf_map_delete_elem(&start, &tid);
	for (int slot = 0; slot < 40; slot++)
		if (ns / 1000 >> slot)
			bin.slot = slot + 1;
	add(&us, &bin, 1);
	add(&task_ns, &tid, ns);
	if (record->ret < 0)
		add(&errors, &failed, 1);
	else if (moves)
		add(&bytes, &call, record->ret);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 tid = BPF_CORE_READ(parent, pid), new = BPF_CORE_READ(child, pid);
	__u64 yes = 1;

	if (bpf_map_lookup_elem(&traced, &tid))
		bpf_map_update_elem(&traced, &new, &yes, BPF_ANY);
	return 0;
}

// A thread that starts another program gets the id of its process.
SEC("tp_btf/sched_process_exec")
int BPF_PROG(exec, struct task_struct *task, int old)
{
	__u32 before = old, tid = BPF_CORE_READ(task, pid);
	__u64 yes = 1;

	if (bpf_map_lookup_elem(&traced, &before))
		bpf_map_update_elem(&traced, &tid, &yes, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(finish, struct task_struct *task)
{
	__u32 tid = BPF_CORE_READ(task, pid);

	bpf_map_delete_elem(&traced, &tid);
	bpf_map_delete_elem(&start, &tid);
	return 0;
}
"""
_LOADER: Final = """
#else
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

static const char *names[] = {
"""
_MAIN: Final = """\
};

static struct bpf_object *object;
static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static int map(const char *name)
{
	return bpf_object__find_map_fd_by_name(object, name);
}

// Gives the next entry of a map; at the end of the map, 0.
static int next(const char *name, void *key, int first, unsigned long long *value)
{
	int fd = map(name);

	return !bpf_map_get_next_key(fd, first ? NULL : key, key) &&
		!bpf_map_lookup_elem(fd, key, value);
}

static void report(void)
{
	unsigned int call, tid, count = sizeof(names) / sizeof(*names);
	unsigned long long value, moved;
	struct failed failed;
	struct bin bin;
	int first;

	printf("call calls bytes\\n");
	for (call = 0; call < count; call++) {
		if (bpf_map_lookup_elem(map("calls"), &call, &value))
			continue;
		printf("%s %llu ", names[call], value);
		if (bpf_map_lookup_elem(map("bytes"), &call, &moved))
			printf("-\\n");
		else
			printf("%llu\\n", moved);
	}
	printf("\\ncall errors error\\n");
	for (first = 1; next("errors", &failed, first, &value); first = 0)
		printf("%s %llu %s\\n", names[failed.call], value, strerror(failed.error));
	printf("\\ncall below_us calls\\n");
	for (bin.call = 0; bin.call < count; bin.call++)
		for (bin.slot = 0; bin.slot <= 40; bin.slot++)
			if (!bpf_map_lookup_elem(map("us"), &bin, &value))
				printf("%s %llu %llu\\n", names[bin.call], 1ULL << bin.slot, value);
	printf("\\ntask ns\\n");
	for (first = 1; next("task_ns", &tid, first, &value); first = 0)
		printf("%u %llu\\n", tid, value);
}

int main(int argc, char **argv)
{
	unsigned long long yes = 1;
	struct bpf_program *program;
	struct dirent *task;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", argc == 2 ? atoi(argv[1]) : 0);
	tasks = opendir(path);
	if (!tasks) {
		fprintf(stderr, "usage: %s PID\\n", argv[0]);
		return 2;
	}
	object = bpf_object__open_file("watch.bpf.o", NULL);
	if (!object || bpf_object__load(object)) {
		fprintf(stderr, "watch.bpf.o: %s\\n", strerror(errno));
		return 1;
	}
	while ((task = readdir(tasks))) {
		unsigned int tid = atoi(task->d_name);

		if (tid && bpf_map_update_elem(map("traced"), &tid, &yes, BPF_ANY)) {
			fprintf(stderr, "%u: %s\\n", tid, strerror(errno));
			return 1;
		}
	}
	bpf_object__for_each_program(program, object)
		if (!bpf_program__attach(program)) {
			fprintf(stderr, "%s: %s\\n", bpf_program__name(program), strerror(errno));
			return 1;
		}
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	fprintf(stderr, "watching %s\\n", argv[1]);
	while (!stopped && !access(path, F_OK))
		usleep(100000);
	report();
	return 0;
}
#endif
"""


def script(calls: Sequence[WatchedCall]) -> str:
    """Write the program.

    Examples
    --------
    >>> text = script([WatchedCall("fstat", "newfstat", True, False)])
    >>> 'SEC("tp/syscalls/sys_exit_newfstat")' in text
    True
    """
    probes = "".join(_probes(number, call) for number, call in enumerate(calls))
    names = "".join(f'\t"{call.name}",\n' for call in calls)
    return _HEAD + comment(calls, "//") + _SHARED + probes + _LOADER + names + _MAIN


def _probes(number: int, call: WatchedCall) -> str:
    text = (
        f'\nSEC("tp/{call.enter.replace(":", "/")}")\n'
        f"int enter_{call.tracepoint}(void *record)\n"
        f"{{\n\tenter({number});\n\treturn 0;\n}}\n"
    )
    if not call.returns:
        return text
    return text + (
        f'\nSEC("tp/{call.exit.replace(":", "/")}")\n'
        f"int exit_{call.tracepoint}(struct exit_record *record)\n"
        f"{{\n\tleave({number}, record, {int(call.moves)});\n\treturn 0;\n}}\n"
    )
