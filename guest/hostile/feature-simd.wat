;; component: … types world libc main instance exports
;; Uses 128-bit vectors.
  (core module (func (result v128) (v128.const i32x4 0 0 0 0)))
