import ODataModel

extension Translator {
    /// Returns the structure of an entity or complex type, the protocols for its derived types, its key method
    /// and the operations bound to it.
    mutating func structure(_ type: StructuredType, _ shape: TypeShape) -> [SwiftDeclaration] {
        let name = names.type(type.name)
        let base = type.baseType.flatMap { subset.contains($0) ? $0 : nil }
        let kind = type.kind == .entity ? "TypedEntity" : "TypedComplex"
        var result: [SwiftDeclaration] = []
        let properties = valueMembers(type, shape)
        let paths = pathMembers(type)
        var inherits = [base.flatMap { names.protocolName($0) } ?? kind]
        var pathInherits = [base.flatMap { names.pathProtocol($0) } ?? "TypedPaths"]

        if let own = names.protocolName(type.name), let ownPaths = names.pathProtocol(type.name) {
            result.append(
                .type(
                    SwiftType(
                        kind: .protocol, documentation: ["\(Self.code(type.name)) and its derived types."],
                        name: own, inherits: inherits, constraint: "Paths: \(ownPaths)")))
            result.append(
                .type(
                    SwiftType(
                        kind: .protocol,
                        documentation: ["The paths of \(Self.code(type.name)) and of its derived types."],
                        name: ownPaths, inherits: pathInherits)))
            if !properties.isEmpty {
                result.append(.type(SwiftType(kind: .extension, name: own, members: properties)))
            }
            if !paths.isEmpty {
                result.append(.type(SwiftType(kind: .extension, name: ownPaths, members: paths)))
            }
            inherits = [own]
            pathInherits = [ownPaths]
        }
        if shape.isOpen { inherits.append("OpenStructure") }
        if shape.hasStream, type.kind == .entity { inherits.append("MediaEntity") }
        let hasProtocol = names.protocolName(type.name) != nil
        result.insert(
            .type(
                SwiftType(
                    kind: .struct, documentation: documentation(type, shape), name: name, inherits: inherits,
                    members: Self.requirements(type.name, metadata: names.metadata)
                        + (hasProtocol ? [] : properties) + [
                            .type(Self.paths(inherits: pathInherits, hasProtocol ? [] : paths))
                        ])), at: 0)
        if let key = keyMethod(type, shape) { result.append(key) }
        return result + operations(boundTo: type)
    }

    private func documentation(_ type: StructuredType, _ shape: TypeShape) -> [String] {
        var facts = "\(Self.code(type.name))"
        if type.isAbstract { facts += ", abstract" }
        if shape.isOpen { facts += ", open" }
        if let base = type.baseType { facts += ", derives from \(Self.code(base))" }
        return Self.documentation(type, facts + ".")
    }

    /// Returns the members that the protocols of the library require.
    private static func requirements(_ name: QualifiedName, metadata: String) -> [SwiftDeclaration] {
        [
            .property(
                SwiftProperty(
                    isStatic: true, name: "typeName", type: "QualifiedName", body: .constant(literal(name)))),
            .property(
                SwiftProperty(
                    isStatic: true, name: "odataMetadata", type: "GeneratedMetadata",
                    body: .computed("\(metadata).metadata"))),
            .property(
                SwiftProperty(
                    isStatic: true, name: "odataShape", type: "TypeShape",
                    body: .constant("\(metadata).metadata.shape(typeName)"))),
            .property(SwiftProperty(name: "odataEntity", type: "ODataEntity", body: .variable)),
            .function(
                SwiftFunction(
                    parameters: [.init(name: "odataEntity", type: "ODataEntity")],
                    body: ["self.odataEntity = odataEntity"])),
        ]
    }

    static func paths(inherits: [String], _ members: [SwiftDeclaration]) -> SwiftType {
        let own: [SwiftDeclaration] = [
            .property(SwiftProperty(name: "odataPath", type: "String", body: .variable)),
            .function(
                SwiftFunction(
                    parameters: [.init(name: "odataPath", type: "String")], body: ["self.odataPath = odataPath"])),
        ]
        return SwiftType(
            kind: .struct, documentation: ["The properties by name, for queries."], name: "Paths", inherits: inherits,
            members: own + members)
    }

    // MARK: Properties

    /// The library accessors for reading and writing a property.
    private enum Access {
        case value, collection, members

        init(_ property: Property) {
            guard property.type.isCollection else {
                self = .value
                return
            }
            // If the document does not say so, null members are not expected.
            self = property.isNullable && !property.facets.isNullabilityUnstated ? .members : .collection
        }
    }

    private mutating func valueMembers(_ type: StructuredType, _ shape: TypeShape) -> [SwiftDeclaration] {
        var members: [SwiftDeclaration] = []
        for property in type.properties {
            // Streams are read by separate requests.
            if property.type == .primitive(.stream) { continue }
            members.append(.property(accessors(property, of: type, ordinal: shape.ordinal(of: property.name) ?? 0)))
        }
        for property in type.navigationProperties {
            guard subset.contains(property.target) else {
                subset.omit(property, of: type, in: model)
                continue
            }
            members.append(.property(accessors(property, of: type)))
        }
        return members
    }

    private func accessors(_ property: Property, of type: StructuredType, ordinal: Int) -> SwiftProperty {
        var facts = "\(Self.code(property.name)), \(property.type)"
        if !property.isNullable { facts += ", not null" }
        if let length = property.facets.maxLength { facts += ", at most \(length)" }
        let arguments = "\(ordinal), \(Self.literal(property.name))"
        let element = swiftType(property.type.element)
        let (accessor, swift) =
            switch Access(property) {
            case .value: ("Value", "\(element)?")
            case .collection: ("Collection", "[\(element)]?")
            case .members: ("Members", "[\(element)?]?")
            }
        return SwiftProperty(
            documentation: Self.documentation(property, facts + "."),
            name: names.member(property.name, of: type.name), type: swift,
            body: .accessors(
                get: "odataEntity.typed\(accessor)(\(arguments))",
                set: "odataEntity.setTyped\(accessor)(\(arguments), newValue)"))
    }

    private func accessors(_ property: NavigationProperty, of type: StructuredType) -> SwiftProperty {
        let name = Self.literal(property.name)
        let target = names.type(property.target)
        let (accessor, swift) =
            property.isCollection ? ("RelatedCollection", "[\(target)]?") : ("Related", "\(target)?")
        let facts = "\(Self.code(property.name)), if it was expanded\(property.isContainment ? "; contained" : "")."
        return SwiftProperty(
            documentation: Self.documentation(property, facts),
            name: names.member(property.name, of: type.name), type: swift,
            body: .accessors(
                get: "odataEntity.typed\(accessor)(\(name))",
                set: "odataEntity.setTyped\(accessor)(\(name), newValue)"))
    }

    // MARK: Paths

    func pathMembers(_ type: StructuredType) -> [SwiftDeclaration] {
        var members: [SwiftDeclaration] = []
        func add(_ name: String, _ pathType: String) {
            members.append(
                .property(
                    SwiftProperty(
                        name: names.member(name, of: type.name), type: pathType,
                        body: .computed("\(pathType)(self, \(Self.literal(name)))"))))
        }
        for property in type.properties {
            // Texts are streams of characters for business objects alone.
            let isText = package != nil && property.isLargeText
            add(property.name, isText ? "LargeTextPath" : pathType(property.type))
        }
        for property in type.navigationProperties where subset.contains(property.target) {
            let path = property.isCollection ? "NavigationCollectionPath" : "NavigationEntityPath"
            add(property.name, "\(path)<\(names.type(property.target))>")
        }
        return members
    }

    private func pathType(_ type: TypeReference) -> String {
        if type == .primitive(.stream) { return "StreamPath" }
        let isStructure =
            switch type.element {
            case .complex(let name?): subset.contains(name)
            default: false
            }
        let swift = swiftType(type.element)
        switch (type.isCollection, isStructure) {
        case (false, false): return "PropertyPath<\(swift)>"
        case (false, true): return "ComplexPath<\(swift)>"
        case (true, false): return "CollectionPath<\(swift)>"
        case (true, true): return "ComplexCollectionPath<\(swift)>"
        }
    }

    // MARK: Keys

    /// Returns a method of collections that takes the parts of the key as typed parameters.
    private func keyMethod(_ type: StructuredType, _ shape: TypeShape) -> SwiftDeclaration? {
        guard type.kind == .entity, !type.key.isEmpty else { return nil }
        var scope = NameScope()
        var parameters: [SwiftFunction.Parameter] = []
        var parts: [String] = []
        for part in type.key {
            guard let property = keyProperty(part.path, shape) else { return nil }
            let name = scope.name(SwiftName.member(part.name.replacing("/", with: "_")))
            let label = type.key.count == 1 ? "_" : nil
            parameters.append(.init(label: label, name: name, type: swiftType(property.type)))
            parts.append(
                "EntityKey.Part(name: \(Self.literal(part.name)), value: \(SwiftName.quoted(name)).odataValue)")
        }
        let method = SwiftFunction(
            documentation: ["The entity with a key."], name: "key", parameters: parameters,
            returns: "EntityRequest<Element>", body: ["self.key(EntityKey([\(parts.joined(separator: ", "))]))"])
        return .type(
            SwiftType(
                kind: .extension, name: "TypedCollection", constraint: names.constraint(type.name, on: "Element"),
                members: [.function(method)]))
    }

    func keyProperty(_ path: String, _ shape: TypeShape) -> Property? {
        let steps = path.split(separator: "/").map(String.init)
        var shape = shape
        for step in steps.dropLast() {
            guard case .complex(let name?)? = shape.property(step)?.type, let next = model.shape(name) else {
                return nil
            }
            shape = next
        }
        return steps.last.flatMap { shape.property($0) }
    }
}
