  ;; The types that the world uses, as `wit/` has them.
  (import "hotcell:guest/types@0.1.0" (instance $types
    (type $class (record (field "name" string) (field "member-property" string)))
    (export "error-class" (type $error-class (eq $class)))
    (type $space (record (field "global" string) (field "error-class" (option $error-class))))
    (export "namespace" (type (eq $space)))
    (type $said
      (record (field "language" string) (field "interpreter" string) (field "version" string) (field "contract" string)))
    (export "announcement" (type (eq $said)))))
  (alias export $types "namespace" (type $namespace))
  (alias export $types "announcement" (type $announcement))
