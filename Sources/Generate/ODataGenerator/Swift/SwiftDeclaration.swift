/// A piece of Swift code in parts: what the translation makes, and the renderer writes as text.
indirect enum SwiftDeclaration: Hashable, Sendable {
    /// A type, protocol or extension.
    case type(SwiftType)
    /// A property.
    case property(SwiftProperty)
    /// A method or initializer.
    case function(SwiftFunction)
    /// A member of an enumeration.
    case enumerationCase(documentation: [String], name: String, value: String)
}

/// A type, protocol or extension.
struct SwiftType: Hashable, Sendable {
    /// What kind it is.
    enum Kind: String, Hashable, Sendable {
        case `struct`, `enum`, `protocol`, `extension`
    }

    var kind: Kind
    var documentation: [String] = []
    var name: String
    var inherits: [String] = []
    /// What stands after `where`.
    var constraint: String?
    var members: [SwiftDeclaration] = []
}

/// A property.
struct SwiftProperty: Hashable, Sendable {
    /// Where its value comes from.
    enum Body: Hashable, Sendable {
        /// It is stored; a constant has a value.
        case constant(String)
        /// It is stored and may change.
        case variable
        /// An expression.
        case computed(String)
        /// An expression and a statement.
        case accessors(get: String, set: String)
        /// A multi-line text, whose lines are as they are.
        case text([String])
    }

    var documentation: [String] = []
    var isStatic = false
    var name: String
    var type: String
    var body: Body
}

/// A method or initializer.
struct SwiftFunction: Hashable, Sendable {
    /// A parameter, whose name is its label unless that is `_`.
    struct Parameter: Hashable, Sendable {
        var label: String?
        var name: String
        var type: String
        var defaultValue: String?
    }

    var documentation: [String] = []
    /// The name; `nil` is an initializer.
    var name: String?
    var parameters: [Parameter] = []
    /// `async throws` and the like.
    var effects: String?
    var returns: String?
    var body: [String] = []

    /// What tells it from others of the same name.
    var signature: String { "\(name ?? "init")(\(parameters.map { "\($0.label ?? $0.name):" }.joined()))" }
}
