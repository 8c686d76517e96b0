;; component: … types world libc main instance exports
;; Imports a value.
  (import "a" (value $a u32))
  (component $c (import "a" (value u32)))
