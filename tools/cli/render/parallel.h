/// The same work for many indices, on all processors.
#ifndef KARAKURI_CLI_RENDER_PARALLEL_H
#define KARAKURI_CLI_RENDER_PARALLEL_H

typedef void parallel_work(void *context, int index);

/// How many threads the machine runs at a time, as far as anybody here cares.
int parallel_processors(void);
/// Calls work(context, 0 … count − 1), each once, in any order; back when all are done. What they write must not overlap.
void parallel_for(int count, parallel_work *work, void *context);

#endif
