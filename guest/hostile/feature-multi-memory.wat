;; component: … types world libc main instance exports
;; Uses two memories in one module.
  (core module (memory 1) (memory 1))
