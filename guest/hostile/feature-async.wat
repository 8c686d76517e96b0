;; component: … types world libc main instance exports
;; Uses the asynchronous component ABI.
  (core module $tasks (func (export "f") (result i32) (i32.const 0))
    (func (export "g") (param i32 i32 i32) (result i32) (i32.const 0)))
  (core instance $tasks (instantiate $tasks))
  (func (export "later") async (canon lift (core func $tasks "f") async (callback (func $tasks "g"))))
