/// The types of terms and of the properties of complex types: CSDL in JSON has strings and numbers for constants of all
/// kinds, and only the type tells a path, a member or a date from a string (OData CSDL JSON 4.01, 14.3 and 14.4.1).
///
/// Known are what the documents declare and the standard vocabularies. Where the term is of neither, a string stays a
/// string constant, and a number is what JSON says of it.
struct CSDLConstantTypes {
    /// By full name; a property's follows the name of its type and a slash.
    private var types: [String: String] = [:]
    private var baseTypes: [String: String] = [:]

    mutating func declare(_ name: String, _ type: String) { types[name] = type }
    mutating func declare(_ type: String, derivedFrom base: String) { baseTypes[type] = base }

    /// The type of a term.
    func type(of term: String) -> String? { types[term] ?? StandardVocabularies.type(of: term) }

    /// The type of a property of a complex type, inherited ones included.
    func type(of property: String, in type: String) -> String? {
        var current = type
        for _ in 0..<CSDLReader.maxDepth {
            if let found = self.type(of: "\(current)/\(property)") { return found }
            guard let base = baseTypes[current] else { return nil }
            current = base
        }
        return nil
    }
}

extension CSDLBuilder {
    /// Takes in the terms and complex types that annotations may be of.
    mutating func declareConstantTypes(_ schemas: [Node]) {
        for schema in schemas {
            let namespace = document.attribute(schema, .namespace) ?? ""
            for node in document.children(schema) {
                let kind = document.name(node)
                guard kind == .term || kind == .valueTerm || kind == .complexType,
                    let name = document.attribute(node, .name).map({ "\(namespace).\($0)" })
                else { continue }
                guard kind == .complexType else {
                    if let type = document.attribute(node, .type) {
                        constantTypes.declare(name, resolver.typeName(type))
                    }
                    continue
                }
                if let base = document.attribute(node, .baseType) {
                    constantTypes.declare(name, derivedFrom: resolver.fullName(base))
                }
                for property in document.children(node, named: .property) {
                    guard let own = document.attribute(property, .name), let type = document.attribute(property, .type)
                    else { continue }
                    constantTypes.declare("\(name)/\(own)", resolver.typeName(type))
                }
            }
        }
    }

    /// An expression with its constants made what the type says; as it is where the type is not known.
    func typed(_ expression: AnnotationExpression, _ type: String?) -> AnnotationExpression {
        let element = type.map { $0.collectionElement.map(String.init) ?? $0 }
        switch expression {
        case .collection(let items): return .collection(items.map { typed($0, element) })
        case .record(let stated, let properties):
            guard let owner = stated ?? element else { return expression }
            return .record(
                type: stated,
                properties: properties.map { property in
                    // Annotations among them have been seen to by their own terms.
                    guard !property.name.utf8.contains(UInt8(ascii: "@")), let value = property.value else {
                        return property
                    }
                    return .init(
                        name: property.name, value: typed(value, constantTypes.type(of: property.name, in: owner)))
                })
        case .constant(let kind, let text):
            guard let element else { return expression }
            return typedConstant(kind, text, type: element)
        case .dynamic("If", let attributes, let operands):
            // The condition is of its own kind.
            let branches = operands.dropFirst().map { typed($0, type) }
            return .dynamic(element: "If", attributes: attributes, operands: operands.prefix(1) + branches)
        case .path, .dynamic: return expression
        }
    }

    private func typedConstant(_ kind: String, _ text: String, type: String) -> AnnotationExpression {
        let stated = AnnotationExpression.constant(kind: kind, text: text)
        guard kind != "Bool" else { return stated }
        var primitive = type
        if let name = QualifiedName(type), let declared = resolver.declared[name]?.type {
            switch declared {
            case .enumeration: return member(kind, text, type: type) ?? stated
            case .typeDefinition(_, let underlying): primitive = underlying.rawValue
            default: return stated
            }
        } else if StandardVocabularies.isEnumeration(type) {
            return member(kind, text, type: type) ?? stated
        }
        switch primitive {
        case "Edm.AnnotationPath", "Edm.AnyPropertyPath", "Edm.ModelElementPath", "Edm.NavigationPropertyPath",
            "Edm.PropertyPath":
            return kind == "String"
                ? .path(kind: String(primitive.dropFirst(4)), text: resolver.path(text.trimmed)) : stated
        case "Edm.Binary", "Edm.Date", "Edm.DateTimeOffset", "Edm.Duration", "Edm.Guid", "Edm.TimeOfDay":
            return kind == "String" ? .constant(kind: String(primitive.dropFirst(4)), text: text.trimmed) : stated
        case "Edm.Decimal": return .constant(kind: "Decimal", text: text.trimmed)
        case "Edm.Double", "Edm.Single": return .constant(kind: "Float", text: text.trimmed)
        default: return stated
        }
    }

    /// Members of an enumeration where the type that is needed tells nothing: JSON says a cast of their names then
    /// (OData CSDL JSON 4.01, 14.4.5); `nil` for every other expression.
    func members(
        _ element: String, _ attributes: [String: String], operands: [AnnotationExpression]
    ) -> AnnotationExpression? {
        guard element == "Cast", attributes.count == 1, let type = attributes["Type"], operands.count == 1,
            case .constant(let kind, let text) = operands[0], isEnumeration(type)
        else { return nil }
        return member(kind, text, type: type)
    }

    private func isEnumeration(_ type: String) -> Bool {
        guard let name = QualifiedName(type), let declared = resolver.declared[name]?.type else {
            return StandardVocabularies.isEnumeration(type)
        }
        if case .enumeration = declared { return true }
        return false
    }

    /// The members of an enumeration as XML has them, each with its type; `nil` for a number, which no member is.
    private func member(_ kind: String, _ text: String, type: String) -> AnnotationExpression? {
        guard kind == "String" else { return nil }
        let names = text.parts(between: ",").map { String($0).trimmed }
        guard !names.isEmpty, names.allSatisfy(\.isMemberName) else { return nil }
        return .constant(kind: "EnumMember", text: names.map { "\(type)/\($0)" }.joined(separator: " "))
    }
}

extension String {
    /// Whether this may be the name of an enumeration's member, and is no number: without what separates names in XML and
    /// what ends a namespace.
    var isMemberName: Bool {
        guard let first = utf8.first, first > UInt8(ascii: "9") else { return false }
        return utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ".") }
    }
}
