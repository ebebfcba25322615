struct SwiftRenderer {
    private(set) var text = ""
    private let access: String
    private var depth = 0

    /// Creates a renderer for code with an access level; `internal` is not written.
    init(access: GeneratorConfiguration.Access) {
        self.access = access == .internal ? "" : "\(access.rawValue) "
    }

    /// Writes declarations separated by empty lines.
    mutating func render(_ declarations: [SwiftDeclaration], in kind: SwiftType.Kind? = nil) {
        for (index, declaration) in declarations.enumerated() {
            if index > 0, !declaration.isDense || !declarations[index - 1].isDense { text += "\n" }
            render(declaration, in: kind)
        }
    }

    private mutating func line(_ line: String) {
        if !line.isEmpty { text += String(repeating: "    ", count: depth) + line }
        text += "\n"
    }

    private mutating func document(_ lines: [String]) {
        for documentation in lines { line(documentation.isEmpty ? "///" : "/// \(documentation)") }
    }

    private mutating func render(_ declaration: SwiftDeclaration, in kind: SwiftType.Kind?) {
        let access = kind == .protocol ? "" : access
        switch declaration {
        case .type(let type): render(type, access)
        case .property(let property): render(property, access)
        case .function(let function): render(function, access)
        case .alias(let documentation, let name, let type):
            document(documentation)
            line("\(access)typealias \(name) = \(type)")
        case .enumerationCase(let documentation, let name, let value):
            document(documentation)
            line("case \(SwiftName.quoted(name)) = \(value)")
        }
    }

    private mutating func render(_ type: SwiftType, _ access: String) {
        document(type.documentation)
        var head = type.kind == .extension ? "extension \(type.name)" : "\(access)\(type.kind.rawValue) \(type.name)"
        if !type.inherits.isEmpty { head += ": \(type.inherits.joined(separator: ", "))" }
        if let constraint = type.constraint { head += " where \(constraint)" }
        guard !type.members.isEmpty else { return line("\(head) {}") }
        line("\(head) {")
        depth += 1
        render(type.members, in: type.kind)
        depth -= 1
        line("}")
    }

    private mutating func render(_ property: SwiftProperty, _ access: String) {
        document(property.documentation)
        let head = "\(access)\(property.isStatic ? "static " : "")"
        let name = SwiftName.quoted(property.name)
        switch property.body {
        case .constant(let value): line("\(head)let \(name): \(property.type) = \(value)")
        case .variable: line("\(head)var \(name): \(property.type)")
        case .computed(let value): line("\(head)var \(name): \(property.type) { \(value) }")
        case .accessors(let get, let set):
            line("\(head)var \(name): \(property.type) {")
            line("    get { \(get) }")
            line("    set { \(set) }")
            line("}")
        case .text(let lines):
            // The number of `#` is increased until the text cannot end the literal.
            var fence = "#"
            while lines.contains(where: { $0.contains("\"\"\"\(fence)") || $0.contains("\\\(fence)") }) { fence += "#" }
            line("\(head)let \(name): \(property.type) = \(fence)\"\"\"")
            for content in lines { line("    \(content)") }
            line("    \"\"\"\(fence)")
        }
    }

    private mutating func render(_ function: SwiftFunction, _ access: String) {
        document(function.documentation)
        if function.isDiscardable { line("@discardableResult") }
        let parameters = function.parameters.map { parameter in
            var text = SwiftName.quoted(parameter.name)
            if let label = parameter.label { text = "\(label) \(text)" }
            text += ": \(parameter.type)"
            if let value = parameter.defaultValue { text += " = \(value)" }
            return text
        }
        var head = "\(access)\(function.name.map { "func \(SwiftName.quoted($0))" } ?? "init")"
        head += "(\(parameters.joined(separator: ", ")))"
        if let effects = function.effects { head += " \(effects)" }
        if let returns = function.returns { head += " -> \(returns)" }
        line("\(head) {")
        depth += 1
        for statement in function.body { line(statement) }
        depth -= 1
        line("}")
    }
}

extension SwiftDeclaration {
    /// Whether the declaration has one line and needs no empty line around it.
    fileprivate var isDense: Bool {
        switch self {
        case .enumerationCase(let documentation, _, _), .alias(let documentation, _, _): documentation.isEmpty
        case .property(let property):
            switch property.body {
            case .constant, .variable, .computed: property.documentation.isEmpty
            case .accessors, .text: false
            }
        case .type, .function: false
        }
    }
}
