/// A structured piece of Swift code: the result of the translation, which the renderer writes as text.
indirect enum SwiftDeclaration: Hashable, Sendable {
    case type(SwiftType)
    case property(SwiftProperty)
    case function(SwiftFunction)
    case alias(documentation: [String], name: String, type: String)
    case enumerationCase(documentation: [String], name: String, value: String)
}

struct SwiftType: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable {
        case `struct`, `enum`, `protocol`, `extension`
    }

    var kind: Kind
    var documentation: [String] = []
    var name: String
    var inherits: [String] = []
    /// The constraint after `where`.
    var constraint: String?
    var members: [SwiftDeclaration] = []
}

struct SwiftProperty: Hashable, Sendable {
    /// The source of a property's value.
    enum Body: Hashable, Sendable {
        /// A stored constant with a value.
        case constant(String)
        case variable
        /// A getter with an expression.
        case computed(String)
        /// A getter with an expression and a setter with a statement.
        case accessors(get: String, set: String)
        /// A multi-line string literal with the given lines.
        case text([String])
    }

    var documentation: [String] = []
    var isStatic = false
    var name: String
    var type: String
    var body: Body
}

struct SwiftFunction: Hashable, Sendable {
    /// A parameter. Its name is also its label, unless the label is `_`.
    struct Parameter: Hashable, Sendable {
        var label: String?
        var name: String
        var type: String
        var defaultValue: String?
    }

    var documentation: [String] = []
    /// Whether callers may ignore the result.
    var isDiscardable = false
    /// The name of the method; `nil` for an initializer.
    var name: String?
    var parameters: [Parameter] = []
    /// The effects, such as `async throws`.
    var effects: String?
    var returns: String?
    var body: [String] = []

    /// The name and labels, which distinguish overloads.
    var signature: String { "\(name ?? "init")(\(parameters.map { "\($0.label ?? $0.name):" }.joined()))" }
}
