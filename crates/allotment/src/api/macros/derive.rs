//! What the derives expand to.
//!
//! A derive is a procedural macro and has no `$crate`: what it writes could be caught by a name of the user. So it
//! writes one call of a macro here, with the parts of the type sorted, and everything unsafe is written here. Nothing is
//! taken on trust: what the derive left out or got wrong does not compile.

/// Behind `#[derive(Object)]`.
#[doc(hidden)]
#[macro_export]
macro_rules! __object {
    (
        docs [$($docs:literal)*]
        object [$($vis:tt)*] $object:ident [$object_type:ty]
        generics [$($generics:tt)*]
        new $new:ident [$new_type:ty]
        new_generics [$($new_generics:tt)*]
        span $span:lifetime
        at $at:lifetime [$at_type:ty]
        bounds [$($bounds:tt)*]
        layout $layout:ident
        slots [$({
            [$($slot_docs:tt)*] [$($slot_vis:tt)*] $slot:ident [$slot_type:ty] [$slot_layout:ty]
        })*]
        plain [$({ [$($plain_docs:tt)*] [$($plain_vis:tt)*] $plain:ident [$plain_type:ty] })*]
        downcast [$($downcast:tt)*]
    ) => {
        $(#[doc = $docs])*
        #[allow(dead_code)]
        $($vis)* struct $new<$($new_generics)*> $($bounds)* {
            $($($slot_docs)* $($slot_vis)* $slot: <$slot_type as $crate::rt::SlotField>::Init<$span>,)*
            $($($plain_docs)* $($plain_vis)* $plain: $plain_type,)*
        }

        const _: () = {
            $crate::__object_layout!($layout $object { $($slot: $slot_layout,)* $($plain: $plain_type,)* });

            const __AL_SLOTS: &[$crate::rt::Slot] = &[$(
                $crate::rt::Slot::new(
                    $crate::rt::core::stringify!($slot),
                    $crate::rt::HEADER_BYTES + $crate::rt::core::mem::offset_of!($layout, $slot),
                    <$slot_layout as $crate::rt::SlotField>::KIND,
                ),
            )*];
            const __AL_SHAPE: $crate::rt::Shape = $crate::rt::Shape::constant(
                $crate::rt::core::stringify!($object),
                $crate::rt::object_bytes($crate::rt::core::mem::size_of::<$layout>()),
                __AL_SLOTS,
                $crate::rt::core::option::Option::None,
            );

            $(const _: () = $crate::rt::plain::<$plain_type>();)*
            const _: () = {
                $crate::rt::core::assert!(
                    !$crate::rt::core::mem::needs_drop::<$layout>(),
                    "an object of the heap is never dropped, so it holds nothing that wants to be: no `Drop`, `String`, `Vec` or `Box`"
                );
                $crate::rt::core::assert!(
                    $crate::rt::core::mem::align_of::<$layout>() <= 8,
                    "an object of the heap is aligned to 8 bytes: no field may ask for more (`u128`, `#[repr(align(16))]`)"
                );
            };

            impl<$($new_generics)*> $crate::rt::MustNotImplDrop for $new_type $($bounds)* {}

            // SAFETY: a struct behind its header; each plain field is `Send + Sync`, and a slot makes it neither.
            unsafe impl<$($generics)*> $crate::Object for $object_type $($bounds)* {
                type View = Self;

                #[inline(always)]
                unsafe fn view<'__al_view>(
                    __al_object: $crate::rt::core::ptr::NonNull<$crate::rt::core::primitive::u8>,
                ) -> &'__al_view Self {
                    // SAFETY: the caller's predicates.
                    unsafe { $crate::rt::body(__al_object) }
                }
            }

            $crate::__object_downcast!([$($downcast)*] $object_type, __AL_SHAPE);

            // SAFETY: the initialiser's references are what its slots hold.
            unsafe impl<$($new_generics)*> $crate::Carry for $new_type $($bounds)* {
                type At<$at> = $at_type;

                fn trace(&mut self, __al_slots: &mut $crate::rt::SlotVisitor<'_>) {
                    $(<$slot_type as $crate::rt::SlotField>::trace(&mut self.$slot, __al_slots);)*
                    let _ = __al_slots;
                    // There is nothing else in it.
                    let $new { $($slot: _,)* $($plain: _,)* } = self;
                }
            }

            // At another span it is the same, with that span in each slot.
            #[allow(dead_code)]
            fn __al_at<$at, $($generics)*>(__al_value: &mut $at_type) $($bounds)* {
                $(
                    let __al_found = $crate::rt::invariant(&mut __al_value.$slot);
                    let _: $crate::rt::Invariant<<$slot_type as $crate::rt::SlotField>::Init<$at>> = __al_found;
                )*
                let $new { $($slot: _,)* $($plain: _,)* } = __al_value;
            }

            // SAFETY: writes the struct, of which the slots are those of the shape.
            unsafe impl<$($new_generics)*> $crate::New for $new_type $($bounds)* {
                type Object = $object_type;

                #[inline(always)]
                fn type_shape() -> &'static $crate::rt::TypeShape {
                    $crate::__object_shape!([$($downcast)*] $object_type, __AL_SHAPE)
                }

                #[inline(always)]
                fn bytes(&self) -> $crate::rt::core::primitive::usize {
                    const { $crate::rt::object_bytes($crate::rt::core::mem::size_of::<$object_type>()) }
                }

                #[inline(always)]
                unsafe fn write(self, __al_object: $crate::rt::core::ptr::NonNull<$crate::rt::core::primitive::u8>) {
                    const {
                        // A generic type has the layout of its stand-in, whatever its parameters.
                        $crate::rt::core::assert!(
                            $crate::rt::core::mem::size_of::<$object_type>() == $crate::rt::core::mem::size_of::<$layout>()
                                && $crate::rt::core::mem::align_of::<$object_type>() == $crate::rt::core::mem::align_of::<$layout>()
                                && !$crate::rt::core::mem::needs_drop::<$object_type>(),
                            "the layout of the object depends on its type parameters"
                        );
                        $($crate::rt::core::assert!(
                            $crate::rt::core::mem::offset_of!($object_type, $slot) == $crate::rt::core::mem::offset_of!($layout, $slot)
                                && $crate::rt::core::mem::offset_of!($object_type, $slot) % 8 == 0
                                && $crate::rt::same_kind(
                                    <$slot_type as $crate::rt::SlotField>::KIND,
                                    <$slot_layout as $crate::rt::SlotField>::KIND,
                                ),
                            "the layout of the object depends on its type parameters"
                        );)*
                    }
                    // Every field is named, so none is left out of the lists.
                    // SAFETY: the caller's memory; the slots go straight into the new object.
                    unsafe {
                        $crate::rt::write_body::<$object_type>(__al_object, $object {
                            $($slot: <$slot_type as $crate::rt::SlotField>::init(self.$slot),)*
                            $($plain: self.$plain,)*
                        })
                    }
                }
            }
        };
    };
}

/// The stand-in of a generic type, for its layout.
#[doc(hidden)]
#[macro_export]
macro_rules! __object_layout {
    // The type is its own.
    (__AlSelf $object:ident { $($fields:tt)* }) => { use $object as __AlSelf; };
    (__AlLayout $object:ident { $($field:ident: $type:ty,)* }) => {
        #[allow(dead_code)]
        struct __AlLayout { $($field: $type,)* }
    };
}

/// Types without parameters can be asked for.
#[doc(hidden)]
#[macro_export]
macro_rules! __object_downcast {
    ([] $object:ty, $shape:ident) => {};
    ([yes] $object:ty, $shape:ident) => {
        // SAFETY: the shape is this type's alone.
        unsafe impl $crate::Downcast for $object {
            #[inline(always)]
            fn type_shape() -> &'static $crate::rt::TypeShape {
                $crate::type_shape!($shape)
            }
        }
    };
}

/// One static for a type: that of `Downcast`, if there is one.
#[doc(hidden)]
#[macro_export]
macro_rules! __object_shape {
    ([] $object:ty, $shape:ident) => {
        $crate::type_shape!($shape)
    };
    ([yes] $object:ty, $shape:ident) => {
        <$object as $crate::Downcast>::type_shape()
    };
}

/// Behind `#[derive(Carry)]`.
#[doc(hidden)]
#[macro_export]
macro_rules! __carry {
    (
        carry $name:ident [$type:ty]
        generics $generics:tt
        at $at:lifetime [$at_type:ty]
        bounds $bounds:tt
        fields [$({ $field:tt [$field_type:ty] })*]
    ) => {
        const _: () = {
            $crate::__carry_impl!($generics $bounds [$type] $at [$at_type] { $($field [$field_type])* });
            $crate::__carry_all!($generics $bounds [$type] $name { $($field)* });
            $($crate::__carry_field!($generics $bounds $at [$at_type] $name $field [$field_type]);)*
        };
    };
}

/// The implementation.
#[doc(hidden)]
#[macro_export]
macro_rules! __carry_impl {
    (
        [$($generics:tt)*] [$($bounds:tt)*] [$type:ty] $at:lifetime [$at_type:ty]
        { $($field:tt [$field_type:ty])* }
    ) => {
        impl<$($generics)*> $crate::rt::MustNotImplDrop for $type $($bounds)* {}

        // SAFETY: each field is carried, and the span of each is the type's, as `__carry_field` checks.
        unsafe impl<$($generics)*> $crate::Carry for $type $($bounds)* {
            type At<$at> = $at_type;

            fn trace(&mut self, __al_slots: &mut $crate::rt::SlotVisitor<'_>) {
                $(<$field_type as $crate::Carry>::trace(&mut self.$field, __al_slots);)*
                let _ = __al_slots;
            }
        }
    };
}

/// Every field is named, so none is left out of the list.
#[doc(hidden)]
#[macro_export]
macro_rules! __carry_all {
    ([$($generics:tt)*] [$($bounds:tt)*] [$type:ty] $name:ident { $($field:tt)* }) => {
        #[allow(dead_code)]
        fn __al_all<$($generics)*>(__al_value: $type) $($bounds)* {
            let $name { $($field: _,)* } = __al_value;
        }
    };
}

/// The span, and nothing else, is replaced in a field: as the compiler sees the field at the other span, since a derive does
/// not see through a macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __carry_field {
    ([$($generics:tt)*] [$($bounds:tt)*] $at:lifetime [$at_type:ty] $name:ident $field:tt [$type:ty]) => {
        const _: () = {
            #[allow(dead_code)]
            fn __al_same<$at, $($generics)*>(
                __al_value: &mut $at_type,
            ) -> $crate::rt::Invariant<<$type as $crate::Carry>::At<$at>>
            $($bounds)*
            {
                let $name { $field: __al_field, .. } = __al_value;
                let __al_found = $crate::rt::invariant(__al_field);
                __al_found
            }
        };
    };
}

/// Behind `#[derive(Word)]`.
#[doc(hidden)]
#[macro_export]
macro_rules! __word {
    (
        docs [$($docs:literal)*]
        word [$($vis:tt)*] $word:ident
        bare $name:ident at $at:lifetime [$type:ty]
        units [$({ $unit:ident $unit_number:literal })*]
        immediates [$({ $immediate:ident $immediate_number:literal })*]
        pointers $pointers:literal [$({ $pointer:ident $pointer_number:literal })*]
    ) => {
        $(#[doc = $docs])*
        #[allow(missing_debug_implementations)]
        $($vis)* enum $word {}

        const _: () = {
            const _: () = $crate::rt::numbered(
                &[$($unit_number,)* $($immediate_number,)*],
                &[$($pointer_number,)*],
                $pointers,
            );

            // SAFETY: `decode` below inverts it, and a pointer's bits are a reference with a tag.
            unsafe impl<$at> $crate::Bare<$at> for $type {
                type Word = $word;

                #[inline]
                fn encode(self) -> $crate::rt::core::primitive::u64 {
                    match self {
                        $($name::$unit => $unit_number << 1 | 1,)*
                        $($name::$immediate(__al_value) => $crate::rt::encode_immediate($immediate_number, __al_value),)*
                        $($name::$pointer(__al_pointer) => $crate::rt::encode_pointer::<$at, _>($pointer_number, __al_pointer),)*
                    }
                }
            }

            // SAFETY: as above; a pointer is made for the span `decode` is called with.
            unsafe impl $crate::Word for $word {
                type Of<$at> = $type;
                const NONE: $crate::rt::core::primitive::u64 = $crate::rt::NO_VARIANT;

                #[inline]
                unsafe fn decode<$at>(__al_bits: $crate::rt::core::primitive::u64) -> Self::Of<$at> {
                    if __al_bits & 1 != 0 {
                        match __al_bits >> 1 & 0x7F {
                            $($unit_number => $name::$unit,)*
                            // SAFETY: that variant's number.
                            $($immediate_number => $name::$immediate(unsafe { $crate::rt::decode_immediate(__al_bits) }),)*
                            // SAFETY: there is no other.
                            _ => unsafe { $crate::rt::no_variant(__al_bits) },
                        }
                    } else {
                        match $crate::rt::pointer_variant(__al_bits, $pointers) {
                            $(
                                // SAFETY: that variant's number.
                                $pointer_number => {
                                    $name::$pointer(unsafe { $crate::rt::decode_pointer::<$at, _>(__al_bits) })
                                }
                            )*
                            // SAFETY: there is no other.
                            _ => unsafe { $crate::rt::no_variant(__al_bits) },
                        }
                    }
                }
            }

            // SAFETY: what its pointers hold is for the span; it is `Copy`, so it has no `Drop`.
            unsafe impl<$at> $crate::Carry for $type {
                type At<'__al_at> = <$word as $crate::Word>::Of<'__al_at>;

                fn trace(&mut self, __al_slots: &mut $crate::rt::SlotVisitor<'_>) {
                    $crate::rt::trace_word(self, __al_slots);
                }
            }
        };
    };
}
