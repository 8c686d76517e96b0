;; component: … types world libc main instance exports
;; Uses garbage-collected structs.
  (core module (type $s (struct (field i32))) (func (drop (struct.new_default $s))))
