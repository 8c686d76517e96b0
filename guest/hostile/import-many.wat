;; component: types world libc main instance exports
;; Imports a dozen things that no guest gets; the refusal names ten.
  (import "wasi:test/unita@0.2.0" (instance (export "f" (func))))
  (import "wasi:test/unitb@0.2.0" (instance (export "f" (func))))
  (import "wasi:test/unitc@0.2.0" (instance (export "f" (func))))
  (import "wasi:test/unitd@0.2.0" (instance (export "f" (func))))
  (import "wasi:test/unite@0.2.0" (instance (export "f" (func))))
  (import "wasi:test/unitf@0.2.0" (instance (export "f" (func))))
  (import "wasi:test/unitg@0.2.0" (instance (export "f" (func))))
  (import "wasi:test/unith@0.2.0" (instance (export "f" (func))))
  (import "wasi:test/uniti@0.2.0" (instance (export "f" (func))))
  (import "wasi:test/unitj@0.2.0" (instance (export "f" (func))))
  (import "wasi:test/unitk@0.2.0" (instance (export "f" (func))))
  (import "wasi:test/unitl@0.2.0" (instance (export "f" (func))))
