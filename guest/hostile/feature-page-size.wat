;; component: … types world libc main instance exports
;; Uses a memory with pages of one byte.
  (core module (memory 1 (pagesize 1)))
