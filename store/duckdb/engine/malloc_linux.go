package engine

/*
#include <malloc.h>
#include <stdlib.h>

// DuckDB takes its large pieces from an allocator of its own (jemalloc), which reads this when it starts:
// one arena for all threads, and what was not used for a second goes back to the system. The
// environment variable DUCKDB_JE_MALLOC_CONF cannot undo it.
const char *duckdb_je_malloc_conf_2_conf_harder = "narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0";

// shareMemory has all threads take the smaller pieces from one place. The C library would give each a
// place of its own, up to eight for each processor, and Go calls from many threads: what one place
// has free is of no use in the others. It also keeps the C library from raising, with each large piece
// that is given free, what it keeps at the end of that place: it does so unless it is told a number, even
// the usual one. It runs before main, since places that are there stay in use. The environment
// variables of the C library take precedence.
__attribute__((constructor)) static void shareMemory(void) {
#ifdef M_ARENA_MAX
	if (getenv("MALLOC_ARENA_MAX") == NULL) {
		mallopt(M_ARENA_MAX, 1);
	}
	if (getenv("MALLOC_TRIM_THRESHOLD_") == NULL) {
		mallopt(M_TRIM_THRESHOLD, 128 << 10);
	}
#endif
}
*/
import "C"
