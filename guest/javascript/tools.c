// See tools.h.
//
// Invariant: a namespace is an exotic object without a prototype whose members are decided here alone. Whatever the
// program does to promises, errors or built-in objects, a call is submitted once and its promise is settled once.
#include "tools.h"

#include <stdlib.h>
#include <string.h>

#include "interpreter.h"
#include "json.h"
#include "unhandled.h"

typedef struct {
    char *global;
    // The names the host gave, in its order; fetched on first need.
    JSAtom *members;
    uint32_t member_count;
    bool listed;
    // Every function handed out so far, by name.
    JSValue functions;
    // The prototype of its errors and the property that names the member, or undefined and JS_ATOM_NULL.
    JSValue error_prototype;
    JSAtom member_property;
} Namespace;

// One submitted call.
typedef struct {
    uint64_t number;
    bool settled;
    uint32_t namespace;
    JSValue name;
    JSValue promise;
    CallSite site;
} Call;

static Namespace *namespaces;
static JSClassID namespace_class;
static JSValue make_error_class;
static JSAtom then, to_json;
// In order of their numbers, which the host counts up. At most half of them are settled.
static Call *calls;
static uint32_t call_count, settled_count, call_capacity;
// Kept between calls: most arguments and names fit into what an earlier one needed.
static Text spare_text, name_text;

// --- errors ---------------------------------------------------------------------------------------------------------

static JSValue plain_error_prototype(JSContext *ctx) {
    JSValue error = JS_NewError(ctx), prototype = JS_GetPrototype(ctx, error);
    JS_FreeValue(ctx, error);
    return prototype;
}

static JSValue call_error(JSContext *ctx, const Namespace *space, JSValueConst name, const CallSite *site,
                          const guest_string_t *text) {
    JSValue stack = call_site_stack(ctx, site);
    JSValue message = JS_NewStringLen(ctx, (const char *)text->ptr, text->len), error = JS_EXCEPTION;
    if (!JS_IsException(stack) && !JS_IsException(message))
        error = error_new(ctx, space->error_prototype, message, stack);
    if (!JS_IsException(error) && space->member_property != JS_ATOM_NULL)
        JS_DefinePropertyValue(ctx, error, space->member_property, JS_DupValue(ctx, name), JS_PROP_C_W_E);
    JS_FreeValue(ctx, stack);
    JS_FreeValue(ctx, message);
    return error;
}

// A promise rejected with this error, or with the exception that kept it from being made.
static JSValue rejected(JSContext *ctx, JSValue error) {
    if (JS_IsException(error)) error = JS_GetException(ctx);
    JSValue promise = promise_new(ctx);
    if (!JS_IsException(promise)) promise_settle(ctx, promise, error, true);
    JS_FreeValue(ctx, error);
    return promise;
}

static JSValue rejected_type_error(JSContext *ctx, const Text *text) {
    JSValue message = JS_NewStringLen(ctx, text->bytes, text->length);
    JSValue error = JS_NewTypeError(ctx, "%s", "");
    if (!JS_IsException(error) && !JS_IsException(message))
        JS_DefinePropertyValueStr(ctx, error, "message", message, JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
    return rejected(ctx, error);
}

// --- calls ----------------------------------------------------------------------------------------------------------

static Call *new_call(void) {
    if (call_count == call_capacity) {
        uint32_t larger = call_capacity ? call_capacity * 2 : 8;
        Call *moved = realloc(calls, larger * sizeof *moved);
        if (!moved) return NULL;
        calls = moved;
        call_capacity = larger;
    }
    return &calls[call_count];
}

// The spare text, empty. Nobody else gets it meanwhile: a getter or a `toJSON` in the arguments may call a member too.
static Text take_spare(void) {
    Text text = {.bytes = spare_text.bytes, .capacity = spare_text.capacity};
    spare_text = (Text){0};
    return text;
}

static void give_spare(const Text *text) {
    text_free(&spare_text);
    spare_text = *text;
}

static bool has_lone_surrogate(JSContext *ctx, JSValueConst string) {
    StringView view;
    bool found = false;
    if (!string_view(ctx, string, &view)) return false;
    for (uint32_t i = 0; i < view.length && !found;) {
        uint32_t c = view_code_point(&view, &i);
        found = c >= 0xD800 && c < 0xE000;
    }
    view_free(ctx, &view);
    return found;
}

// Writes the argument of a call of `name` as JSON. A fault is left in `fault`.
static JsonOutcome write_arguments(JSContext *ctx, JSValueConst name, int argc, JSValueConst *argv, Text *arguments,
                                   Text *fault) {
    if (argc > 1) {
        text_literal(fault, "takes one argument, an object; it was given ");
        text_number(fault, (uint64_t)argc);
        return JSON_FAULT;
    }
    if (has_lone_surrogate(ctx, name)) {
        text_literal(fault, "the name holds a lone surrogate, which is not valid Unicode");
        return JSON_FAULT;
    }
    JsonOutcome outcome = JSON_NOTHING;
    if (argc) outcome = json_write(ctx, argv[0], "arguments", arguments, fault);
    if (outcome != JSON_NOTHING) return outcome;
    text_literal(arguments, "{}");
    return JSON_WRITTEN;
}

static JSValue submit(JSContext *ctx, uint32_t index, JSValueConst name, const Text *written) {
    uint64_t number;
    guest_string_t refusal;
    name_text.length = 0;
    name_text.failed = false;
    text_string(&name_text, ctx, name, UINT32_MAX);
    Call *call = new_call();
    JSValue promise = promise_new(ctx);
    if (!call || name_text.failed || written->failed || JS_IsException(promise)) {
        JS_FreeValue(ctx, promise);
        return JS_ThrowOutOfMemory(ctx);
    }
    call_site_take(ctx, &call->site);
    guest_string_t member = borrowed(&name_text), arguments = borrowed(written);
    if (!hotcell_guest_host_method_execution_submit(execution, index, &member, &arguments, &number, &refusal)) {
        JSValue error = call_error(ctx, &namespaces[index], name, &call->site, &refusal);
        guest_string_free(&refusal);
        call_site_free(ctx, &call->site);
        JS_FreeValue(ctx, promise);
        return rejected(ctx, error);
    }
    call->number = number;
    call->settled = false;
    call->namespace = index;
    call->name = JS_DupValue(ctx, name);
    call->promise = JS_DupValue(ctx, promise);
    call_count++;
    return promise;
}

// What a member does when it is called. `data[0]` is its name.
static JSValue call_member(JSContext *ctx, JSValueConst receiver, int argc, JSValueConst *argv, int index,
                           JSValueConst *data) {
    (void)receiver;
    if (!running) return JS_ThrowTypeError(ctx, "the program is over");
    Text fault = {0}, arguments = take_spare();
    JSValue promise;
    switch (write_arguments(ctx, data[0], argc, argv, &arguments, &fault)) {
    case JSON_THREW:
        promise = rejected(ctx, JS_EXCEPTION);
        break;
    case JSON_FAULT: {
        Text message = {0};
        text_literal(&message, namespaces[index].global);
        text_char(&message, '.');
        text_string(&message, ctx, data[0], 128);
        text_literal(&message, argc > 1 ? " " : ": ");
        text_bytes(&message, fault.bytes, fault.length);
        promise = rejected_type_error(ctx, &message);
        text_free(&message);
        break;
    }
    default:
        promise = submit(ctx, (uint32_t)index, data[0], &arguments);
    }
    give_spare(&arguments);
    text_free(&fault);
    return promise;
}

static void drop_settled(void) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < call_count; i++)
        if (!calls[i].settled) calls[kept++] = calls[i];
    call_count = kept;
    settled_count = 0;
}

static bool take_call(uint64_t number, Call *call) {
    uint32_t low = 0, high = call_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (calls[middle].number < number) low = middle + 1;
        else high = middle;
    }
    if (low == call_count || calls[low].number != number || calls[low].settled) return false;
    *call = calls[low];
    calls[low].settled = true;
    if (++settled_count > call_count / 2) drop_settled();
    return true;
}

void tools_settle(JSContext *ctx, hotcell_guest_host_settlement_t *settlement) {
    static const guest_string_t given_up = {(uint8_t *)"the call was cancelled", 22};
    Call call;
    hotcell_guest_host_outcome_t *outcome = &settlement->outcome;
    if (take_call(settlement->call, &call)) {
        bool success = outcome->tag == HOTCELL_GUEST_HOST_OUTCOME_SUCCESS;
        JSValue value;
        if (success) {
            value = json_read(ctx, (const char *)outcome->val.success.ptr, outcome->val.success.len);
        } else {
            bool failure = outcome->tag == HOTCELL_GUEST_HOST_OUTCOME_FAILURE;
            value = call_error(ctx, &namespaces[call.namespace], call.name, &call.site,
                               failure ? &outcome->val.failure : &given_up);
        }
        if (JS_IsException(value)) {
            success = false;
            value = JS_GetException(ctx);
        }
        unhandled_of_call(settlement->call);
        promise_settle(ctx, call.promise, value, !success);
        unhandled_of_call(0);
        JS_FreeValue(ctx, value);
        JS_FreeValue(ctx, call.promise);
        JS_FreeValue(ctx, call.name);
        call_site_free(ctx, &call.site);
    }
    hotcell_guest_host_settlement_free(settlement);
}

// --- the namespace object -------------------------------------------------------------------------------------------

static Namespace *of(JSValueConst object) {
    return JS_GetOpaque(object, namespace_class);
}

static bool list_members(JSContext *ctx, Namespace *space) {
    guest_list_string_t names;
    if (space->listed) return true;
    if (!running) return false;
    hotcell_guest_host_method_execution_members(execution, (uint32_t)(space - namespaces), &names);
    space->members = js_malloc(ctx, (names.len + 1) * sizeof *space->members);
    for (size_t i = 0; space->members && i < names.len; i++) {
        JSAtom key = key_from_utf8(ctx, (const char *)names.ptr[i].ptr, names.ptr[i].len);
        if (key == JS_ATOM_NULL) break;
        space->members[space->member_count++] = key;
    }
    space->listed = space->members && space->member_count == names.len;
    guest_list_string_free(&names);
    return space->listed;
}

// 1, 0, or -1 with an exception.
static int has_member(JSContext *ctx, Namespace *space, JSAtom key) {
    if (!list_members(ctx, space)) return -1;
    for (uint32_t i = 0; i < space->member_count; i++)
        if (space->members[i] == key) return 1;
    return 0;
}

static JSValue member_function(JSContext *ctx, Namespace *space, JSAtom key) {
    JSValue function = JS_GetProperty(ctx, space->functions, key);
    if (!JS_IsUndefined(function)) return function;
    JSValue name = JS_AtomToString(ctx, key);
    if (JS_IsException(name)) return name;
    const char *text = JS_ToCString(ctx, name);
    if (text) {
        function = JS_NewCFunctionData2(ctx, call_member, text, 1, (int)(space - namespaces), 1, &name);
        JS_FreeCString(ctx, text);
    } else {
        function = JS_EXCEPTION;
    }
    JS_FreeValue(ctx, name);
    if (!JS_IsException(function) &&
        JS_DefinePropertyValue(ctx, space->functions, key, JS_DupValue(ctx, function), JS_PROP_C_W_E) < 0) {
        JS_FreeValue(ctx, function);
        return JS_EXCEPTION;
    }
    return function;
}

static bool is_symbol(JSContext *ctx, JSAtom key) {
    JSValue value = JS_AtomToValue(ctx, key);
    bool symbol = JS_IsSymbol(value);
    JS_FreeValue(ctx, value);
    return symbol;
}

static JSValue get_property(JSContext *ctx, JSValueConst object, JSAtom key, JSValueConst receiver) {
    (void)receiver;
    Namespace *space = of(object);
    if (is_symbol(ctx, key)) return JS_UNDEFINED;
    // The language itself asks for these two; a function there would turn the namespace into something else.
    if (key == then || key == to_json) {
        int member = has_member(ctx, space, key);
        if (member <= 0) return member ? JS_EXCEPTION : JS_UNDEFINED;
    }
    return member_function(ctx, space, key);
}

static int get_own_property(JSContext *ctx, JSPropertyDescriptor *descriptor, JSValueConst object, JSAtom key) {
    Namespace *space = of(object);
    int member = has_member(ctx, space, key);
    if (member <= 0 || !descriptor) return member;
    JSValue function = member_function(ctx, space, key);
    if (JS_IsException(function)) return -1;
    *descriptor = (JSPropertyDescriptor){JS_PROP_ENUMERABLE, function, JS_UNDEFINED, JS_UNDEFINED};
    return 1;
}

static int get_own_property_names(JSContext *ctx, JSPropertyEnum **names, uint32_t *count, JSValueConst object) {
    Namespace *space = of(object);
    if (!list_members(ctx, space)) return -1;
    JSPropertyEnum *found = js_malloc(ctx, (space->member_count + 1) * sizeof *found);
    if (!found) return -1;
    for (uint32_t i = 0; i < space->member_count; i++)
        found[i] = (JSPropertyEnum){true, JS_DupAtom(ctx, space->members[i])};
    *names = found;
    *count = space->member_count;
    return 0;
}

static int has_property(JSContext *ctx, JSValueConst object, JSAtom key) {
    return has_member(ctx, of(object), key);
}

static int refuse(JSContext *ctx, JSValueConst object) {
    JS_ThrowTypeError(ctx, "%s cannot be changed", of(object)->global);
    return -1;
}

static int delete_property(JSContext *ctx, JSValueConst object, JSAtom key) {
    (void)key;
    return refuse(ctx, object);
}

static int define_own_property(JSContext *ctx, JSValueConst object, JSAtom key, JSValueConst value,
                               JSValueConst getter, JSValueConst setter, int flags) {
    (void)key, (void)value, (void)getter, (void)setter, (void)flags;
    return refuse(ctx, object);
}

static int set_property(JSContext *ctx, JSValueConst object, JSAtom key, JSValueConst value, JSValueConst receiver,
                        int flags) {
    (void)key, (void)value, (void)receiver, (void)flags;
    return refuse(ctx, object);
}

static JSClassExoticMethods exotic = {
    .get_own_property = get_own_property,
    .get_own_property_names = get_own_property_names,
    .delete_property = delete_property,
    .define_own_property = define_own_property,
    .has_property = has_property,
    .get_property = get_property,
    .set_property = set_property,
};

// --- set-up ---------------------------------------------------------------------------------------------------------

void tools_prepare(JSContext *ctx, JSValue error_class) {
    static const JSClassDef definition = {.class_name = "Namespace", .exotic = &exotic};
    make_error_class = error_class;
    then = JS_NewAtom(ctx, "then");
    to_json = JS_NewAtom(ctx, "toJSON");
    JS_NewClassID(JS_GetRuntime(ctx), &namespace_class);
    JS_NewClass(JS_GetRuntime(ctx), namespace_class, &definition);
}

static bool bind_global(JSContext *ctx, JSValueConst global, const guest_string_t *name, JSValue value) {
    JSAtom key = key_from_utf8(ctx, (const char *)name->ptr, name->len);
    bool bound = key != JS_ATOM_NULL && JS_DefinePropertyValue(ctx, global, key, value, JS_PROP_CONFIGURABLE) >= 0;
    JS_FreeAtom(ctx, key);
    return bound;
}

static bool bind_error_class(JSContext *ctx, JSValueConst global, Namespace *space,
                             const hotcell_guest_types_error_class_t *wanted) {
    JSValue name = JS_NewStringLen(ctx, (const char *)wanted->name.ptr, wanted->name.len);
    JSValue class = JS_Call(ctx, make_error_class, JS_UNDEFINED, 1, &name);
    JS_FreeValue(ctx, name);
    if (JS_IsException(class)) return false;
    space->error_prototype = JS_GetPropertyStr(ctx, class, "prototype");
    space->member_property = key_from_utf8(ctx, (const char *)wanted->member_property.ptr, wanted->member_property.len);
    return bind_global(ctx, global, &wanted->name, class);
}

static bool bind_namespace(JSContext *ctx, JSValueConst global, Namespace *space, const guest_namespace_t *given) {
    space->global = js_strndup(ctx, (const char *)given->global.ptr, given->global.len);
    space->functions = JS_NewObjectProto(ctx, JS_NULL);
    JSValue object = JS_NewObjectProtoClass(ctx, JS_NULL, namespace_class);
    if (!space->global || JS_IsException(space->functions) || JS_IsException(object)) return false;
    JS_SetOpaque(object, space);
    JS_PreventExtensions(ctx, object);
    if (!bind_global(ctx, global, &given->global, object)) return false;
    if (given->error_class.is_some) return bind_error_class(ctx, global, space, &given->error_class.val);
    space->error_prototype = plain_error_prototype(ctx);
    return !JS_IsException(space->error_prototype);
}

bool tools_bind(JSContext *ctx, JSValueConst global, const guest_list_namespace_t *given) {
    namespaces = js_mallocz(ctx, (given->len + 1) * sizeof *namespaces);
    if (!namespaces) return false;
    for (size_t i = 0; i < given->len; i++)
        if (!bind_namespace(ctx, global, &namespaces[i], &given->ptr[i])) return false;
    return true;
}
