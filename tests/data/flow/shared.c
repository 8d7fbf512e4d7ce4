/*
 * Share memory in each way that needs no file: an anonymous mapping over fork, and a segment of
 * System V that a child has from its maker, and another program by its id. Prints what it read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

static void *map(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static int attach_as_reader(const char *id)
{
	const char *text = shmat(atoi(id), NULL, SHM_RDONLY);

	puts(text);
	return shmdt(text);
}

int main(int count, char **arguments)
{
	if (count == 2)
		return attach_as_reader(arguments[1]);

	/* Nobody else ever has it. */
	munmap(map(4096), 4096);

	char *anonymous = map(8192);
	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	char *segment = shmat(id, NULL, 0);

	if (fork() == 0) {
		/* The child of a child has it, too, if that has not unmapped it. */
		strcpy(anonymous, "from a child");
		munmap(anonymous, 8192);
		if (fork() == 0) {
			strcpy(segment, "from its child");
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	wait(NULL);
	puts(anonymous);
	munmap(anonymous, 8192);

	if (fork() == 0) {
		/* It has the segment of its maker only until it starts a program. */
		char text[16];

		snprintf(text, sizeof(text), "%d", id);
		execl(arguments[0], arguments[0], text, NULL);
	}
	wait(NULL);
	shmctl(id, IPC_RMID, NULL);
	return shmdt(segment);
}
