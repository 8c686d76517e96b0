;; component: … types world libc main instance exports
;; Uses shared memory.
  (core module (memory 1 1 shared))
