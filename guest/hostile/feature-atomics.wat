;; component: … types world libc main instance exports
;; Uses atomic instructions.
  (core module (memory 1) (func (drop (i32.atomic.load (i32.const 0)))))
