;; component: types world libc main instance exports
;; Has 5 memories.
  (core module $small (memory 1))
  (core instance (instantiate $small))
  (core instance (instantiate $small))
  (core instance (instantiate $small))
  (core instance (instantiate $small))
