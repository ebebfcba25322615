import ODataModel

/// The translation of entity types into business objects.
extension Translator {
    /// The entity sets of a type, the set of its own type first.
    func sets(of type: QualifiedName) -> [EntitySet] {
        let sets = model.container.entitySets.filter { subset.isWanted($0.name) && subset.contains($0.type) }
            .sorted { $0.name < $1.name }
        let own = sets.filter { $0.type == type }
        return own + sets.filter { $0.type != type && model.isType(type, $0.type) }
    }

    /// Returns the structure of an entity type, its finders and its subscriptions.
    mutating func object(
        _ type: StructuredType, _ shape: TypeShape, in package: PackageModel
    ) -> [SwiftDeclaration] {
        let name = names.type(type.name)
        let attributes = ObjectAttributes(
            shape, of: type.name, sets: sets(of: type.name), package: package, model: model)
        var members = requirements(of: type, package, attributes)
        members.append(.function(initializer(of: type, shape, attributes)))
        for property in shape.properties where property.type != .primitive(.stream) {
            members.append(.property(accessors(property, of: type, shape: shape, attributes: attributes)))
            if let length = property.lengthBeyondValues {
                subset.omit(
                    "\(type.name)/\(property.name)",
                    "its length \(length) is that of a large attribute: Edm.Stream would load it by itself")
            }
        }
        for property in shape.navigationProperties {
            guard subset.contains(property.target) else {
                subset.omit(property, of: type, in: model)
                continue
            }
            let isPart = package.isComposite(property.name, of: type.name, in: model)
            members.append(.property(relation(property, of: type, isPart: isPart)))
        }
        members.append(.type(objectPaths(type, shape)))
        members += operations(of: type)
        var documentation = "\(Self.code(type.name))"
        if type.isAbstract { documentation += ", abstract" }
        if let base = type.baseType { documentation += ", derives from \(Self.code(base))" }
        var result: [SwiftDeclaration] = [
            .type(
                SwiftType(
                    kind: .struct, documentation: Self.documentation(type, documentation + "."), name: name,
                    inherits: conformances(of: type, shape, attributes, in: package), members: members))
        ]
        if let verbs = roleVerbs(of: type, package) { result.append(verbs) }
        if !attributes.sets.isEmpty, let finders = finders(of: type, shape, package) { result.append(finders) }
        for set in attributes.sets where set.type == type.name {
            if let subscription = subscription(of: set, package) { result.append(subscription) }
        }
        return result
    }

    // MARK: Conformances

    private func conformances(
        of type: StructuredType, _ shape: TypeShape, _ attributes: ObjectAttributes, in package: PackageModel
    ) -> [String] {
        /// Whether the plain verb needs nothing but the attributes.
        func isPlain(_ kind: PackageModel.Role.Kind, _ isAllowed: Bool) -> Bool {
            let actions = roleActions(kind, of: type.name, in: package)
            return actions.isEmpty ? isAllowed : actions.count == 1 && actions[0].unmapped.isEmpty
        }
        var result: [String] = []
        if !type.isAbstract, isPlain(.create, attributes.isCreatable) { result.append("Creatable") }
        if isPlain(.update, attributes.isUpdatable) { result.append("Updatable") }
        if isPlain(.delete, attributes.isDeletable) { result.append("Deletable") }
        if result.isEmpty { result = ["BusinessObject"] }
        if shape.isOpen { result.append("OpenStructure") }
        if shape.hasStream { result.append("MediaEntity") }
        return result
    }

    private func requirements(
        of type: StructuredType, _ package: PackageModel, _ attributes: ObjectAttributes
    ) -> [SwiftDeclaration] {
        let set = attributes.sets.first?.name ?? ""
        let number = package.numbers[type.name] ?? 0
        let required = attributes.required.map { Self.literal($0.name) }.joined(separator: ", ")
        return [
            .alias(documentation: [], name: "Package", type: names.package),
            .alias(documentation: [], name: "InitialValues", type: "RequiredInitialValues"),
            constant("typeName", type: "QualifiedName", value: Self.literal(type.name)),
            constant(
                "objectType", type: "ObjectType<\(names.package)>",
                value: "ObjectType(number: \(number), entitySet: \(Self.literal(set)))"),
            constant("requiredAttributes", type: "[String]", value: "[\(required)]"),
            .property(
                SwiftProperty(
                    isStatic: true, name: "odataMetadata", type: "GeneratedMetadata",
                    body: .computed("\(names.metadata).metadata"))),
            constant("odataShape", type: "TypeShape", value: "\(names.metadata).metadata.shape(typeName)"),
            .property(SwiftProperty(name: "odataEntity", type: "ODataEntity", body: .variable)),
            .function(
                SwiftFunction(
                    parameters: [.init(name: "odataEntity", type: "ODataEntity")],
                    body: ["self.odataEntity = odataEntity"])),
        ]
    }

    private func constant(_ name: String, type: String, value: String) -> SwiftDeclaration {
        .property(SwiftProperty(isStatic: true, name: name, type: type, body: .constant(value)))
    }

    /// Returns the initializer with the attributes that must not be null.
    private func initializer(
        of type: StructuredType, _ shape: TypeShape, _ attributes: ObjectAttributes
    ) -> SwiftFunction {
        var parameters: [SwiftFunction.Parameter] = []
        var body = ["odataEntity = ODataEntity(shape: Self.odataShape)"]
        for property in attributes.settable {
            guard attributes.isRequired(property), substitute(property.type) != nil else { continue }
            let name = names.member(property.name, of: type.name)
            parameters.append(.init(name: name, type: swiftType(property.type)))
            body.append("self.\(name) = \(SwiftName.quoted(name))")
        }
        return SwiftFunction(
            documentation: ["Makes an object of \(Self.code(type.name)) that is not in the database yet."],
            parameters: parameters, body: body)
    }

    // MARK: Attributes

    private func accessors(
        _ property: Property, of type: StructuredType, shape: TypeShape, attributes: ObjectAttributes
    ) -> SwiftProperty {
        var facts = "\(Self.code(property.name)), \(property.type)"
        if !property.isNullable { facts += ", not null" }
        if let length = property.facets.maxLength { facts += ", at most \(length)" }
        let isSettable = attributes.isSettable(property)
        if !isSettable { facts += ", \(attributes.origin(of: property))" }
        let arguments = "\(shape.ordinal(of: property.name) ?? 0), \(Self.literal(property.name))"
        let element = swiftType(property.type.element)
        let name = names.member(property.name, of: type.name)
        var (accessor, swift) = ("Value", "\(element)?")
        if property.type.isCollection {
            let hasNulls = property.isNullable && !property.facets.isNullabilityUnstated
            (accessor, swift) = hasNulls ? ("Members", "[\(element)?]?") : ("Collection", "[\(element)]?")
        }
        var get = "odataEntity.typed\(accessor)(\(arguments))"
        if attributes.isRequired(property), let substitute = substitute(property.type) {
            swift = element
            get = "odataEntity.requiredValue(\(arguments), or: \(substitute))"
        }
        return SwiftProperty(
            documentation: Self.documentation(property, facts + "."), name: name, type: swift,
            body: isSettable
                ? .accessors(get: get, set: "odataEntity.setTyped\(accessor)(\(arguments), newValue)") : .computed(get))
    }

    /// Returns an expression for the value of an attribute that a row lacks although it must not be null; `nil` if its
    /// Swift type has no such value, so that the attribute is optional.
    private func substitute(_ type: TypeReference) -> String? {
        switch type {
        case .primitive(let primitive), .typeDefinition(_, let primitive): Self.substitute(primitive)
        case .enumeration(let name):
            model.enumType(name)?.members.first.map { member in
                subset.contains(type)
                    ? "\(names.type(name)).\(SwiftName.quoted(names.member(member.name, of: name)))"
                    : "ODataValue.null"
            }
        case .complex(let name?) where subset.contains(type):
            "\(names.type(name))(odataEntity: ODataEntity(shape: \(names.type(name)).odataShape))"
        case .complex, .entity, .collection, .untyped: nil
        }
    }

    private static func substitute(_ type: PrimitiveType) -> String? {
        switch type {
        case .binary: "[]"
        case .boolean: "false"
        case .byte, .sbyte, .int16, .int32, .int64, .single, .double: "0"
        case .decimal: "ODataDecimal(0)"
        case .string: #""""#
        case .guid: "ODataGuid(high: 0, low: 0)"
        case .date: "ODataDate(daysSinceEpoch: 0)"
        case .timeOfDay: "ODataTimeOfDay.midnight"
        case .dateTime: "ODataDateTime(seconds: 0)"
        case .dateTimeOffset: "ODataDateTimeOffset(seconds: 0)"
        case .duration, .time: "ODataDuration(seconds: 0)"
        default: nil
        }
    }

    private func relation(_ property: NavigationProperty, of type: StructuredType, isPart: Bool) -> SwiftProperty {
        let name = Self.literal(property.name)
        let target = names.type(property.target)
        let (accessor, swift) =
            property.isCollection ? ("RelatedCollection", "[\(target)]?") : ("Related", "\(target)?")
        let part = isPart ? (property.isCollection ? ", parts of the object" : ", part of the object") : ""
        let get = "odataEntity.typed\(accessor)(\(name))"
        return SwiftProperty(
            documentation: Self.documentation(property, "\(Self.code(property.name))\(part), if it was expanded."),
            name: names.member(property.name, of: type.name), type: swift,
            // Related objects that are no parts are saved by themselves.
            body: isPart
                ? .accessors(get: get, set: "odataEntity.setTyped\(accessor)(\(name), newValue)") : .computed(get))
    }

    private func objectPaths(_ type: StructuredType, _ shape: TypeShape) -> SwiftType {
        var all = type
        all.properties = shape.properties
        all.navigationProperties = shape.navigationProperties
        return Self.paths(inherits: ["TypedPaths"], pathMembers(all))
    }

    // MARK: Finders

    private mutating func finders(
        of type: StructuredType, _ shape: TypeShape, _ package: PackageModel
    ) -> SwiftDeclaration? {
        var members: [SwiftDeclaration] = []
        if let key = keyParameters(shape) {
            let arguments = key.arguments.joined(separator: ", ")
            members.append(
                .function(
                    SwiftFunction(
                        documentation: ["The object with a key; `nil` if there is none."], name: "find",
                        parameters: key.parameters, effects: "async throws", returns: "\(names.type(type.name))?",
                        body: ["try await find(parts: [\(arguments)])"])))
            members.append(
                .function(
                    SwiftFunction(
                        documentation: ["The object with a key."], name: "load", parameters: key.parameters,
                        effects: "async throws", returns: names.type(type.name),
                        body: ["try await load(parts: [\(arguments)])"])))
        }
        var taken = NameScope()
        for query in package.queries[type.name] ?? [] {
            var scope = NameScope()
            var parameters: [SwiftFunction.Parameter] = []
            var arguments: [String] = []
            for parameter in query.parameters {
                let name = scope.name(SwiftName.member(parameter.name))
                let swift = swiftType(.primitive(parameter.type)) + (parameter.isNullable ? "?" : "")
                parameters.append(.init(name: name, type: swift))
                arguments.append("QueryArgument(\(Self.literal(parameter.name)), \(SwiftName.quoted(name)))")
            }
            let call = "query(\(Self.literal(query.text)), [\(arguments.joined(separator: ", "))])"
            let name = taken.name(SwiftName.member(query.name), reserved: ReservedNames.objectSets)
            members.append(
                .function(
                    SwiftFunction(
                        documentation: ["The object query \(Self.code(query.name))."], name: name,
                        parameters: parameters, effects: query.isSingle ? "async throws" : nil,
                        returns: query.isSingle
                            ? "\(names.type(type.name))?" : "ObjectSet<\(names.type(type.name))>",
                        body: [query.isSingle ? "try await \(call).first()" : call])))
        }
        guard !members.isEmpty else { return nil }
        return .type(
            SwiftType(
                kind: .extension, name: "ObjectSet", constraint: "Element == \(names.type(type.name))",
                members: members))
    }

    private func keyParameters(
        _ shape: TypeShape
    ) -> (parameters: [SwiftFunction.Parameter], arguments: [String])? {
        guard !shape.key.isEmpty else { return nil }
        var scope = NameScope()
        var parameters: [SwiftFunction.Parameter] = []
        var arguments: [String] = []
        for part in shape.key {
            guard let property = keyProperty(part.path, shape) else { return nil }
            let name = scope.name(SwiftName.member(part.name.replacing("/", with: "_")))
            parameters.append(
                .init(label: shape.key.count == 1 ? "_" : nil, name: name, type: swiftType(property.type)))
            arguments.append("QueryArgument(\(Self.literal(part.name)), \(SwiftName.quoted(name)))")
        }
        return (parameters, arguments)
    }

    // MARK: Subscriptions

    private func subscription(of set: EntitySet, _ package: PackageModel) -> SwiftDeclaration? {
        guard let synchronized = package.sets[set.name], !synchronized.parameters.isEmpty else { return nil }
        var scope = NameScope(reserved: ["arguments", "entitySet"])
        var fields: [SwiftDeclaration] = []
        var parameters: [SwiftFunction.Parameter] = []
        var assignments: [String] = []
        var arguments: [String] = []
        for parameter in synchronized.parameters {
            let name = scope.name(SwiftName.member(parameter.name))
            let follows = parameter.personalizationKey ?? parameter.defaultValue
            let type = swiftType(.primitive(parameter.type)) + (follows != nil || parameter.isNullable ? "?" : "")
            var facts = "\(Self.code(parameter.name)), \(parameter.type.rawValue)"
            if let key = parameter.personalizationKey {
                facts += "; `nil` follows the personalization key \(Self.code(key))"
            } else if let value = parameter.defaultValue {
                facts += "; `nil` stands for \(Self.code(value))"
            }
            fields.append(
                .property(SwiftProperty(documentation: [facts + "."], name: name, type: type, body: .variable)))
            parameters.append(.init(name: name, type: type, defaultValue: type.hasSuffix("?") ? "nil" : nil))
            assignments.append("self.\(name) = \(SwiftName.quoted(name))")
            arguments.append("SubscriptionArgument(\(Self.literal(parameter.name)), \(SwiftName.quoted(name)))")
        }
        let members: [SwiftDeclaration] =
            [
                .alias(documentation: [], name: "Package", type: names.package),
                constant("entitySet", type: "String", value: Self.literal(set.name)),
            ] + fields + [
                .function(SwiftFunction(parameters: parameters, body: assignments)),
                .property(
                    SwiftProperty(
                        name: "arguments", type: "[SubscriptionArgument]",
                        body: .computed("[\(arguments.joined(separator: ", "))]"))),
            ]
        return .type(
            SwiftType(
                kind: .struct,
                documentation: ["The rows of \(Self.code(set.name)) that are synchronized: those with certain values."],
                name: names.subscription(set.name), inherits: ["SubscriptionParameters"], members: members))
    }
}

/// The attributes of a business object: whether each can be set, and whether it is always there.
struct ObjectAttributes {
    /// The attributes that the app sets, in the order of the model.
    let settable: [Property]
    /// The attributes that every row has.
    let required: [Property]
    /// The sets of the type.
    let sets: [EntitySet]
    private let references: [String: String]

    init(
        _ shape: TypeShape, of type: QualifiedName, sets: [EntitySet], package: PackageModel,
        model: EntityDataModel
    ) {
        self.sets = sets
        // Foreign keys of a composite parent are set by creating the object within the parent.
        var references: [String: String] = [:]
        for navigation in shape.navigationProperties {
            guard let partner = navigation.partner,
                package.isComposite(partner, of: navigation.target, in: model)
            else { continue }
            for constraint in navigation.constraints { references[constraint.property] = navigation.name }
        }
        self.references = references
        settable = shape.properties.filter { property in
            property.type != .primitive(.stream) && references[property.name] == nil && Self.isGivenByApp(property)
        }
        required = settable.filter { !$0.isNullable && !$0.type.isCollection && !$0.isLargeAttribute }
    }

    private static func isGivenByApp(_ property: Property) -> Bool {
        !property.isServerGenerated && (property.isCreatable || property.isUpdatable)
    }

    func isSettable(_ property: Property) -> Bool { settable.contains { $0.name == property.name } }

    func isRequired(_ property: Property) -> Bool { required.contains { $0.name == property.name } }

    /// The origin of the value of an attribute that the app does not set.
    func origin(of property: Property) -> String {
        references[property.name].map { "set by the relation `\($0)`" } ?? "given by the service"
    }

    var isCreatable: Bool { sets.first?.isCreatable ?? true }
    var isUpdatable: Bool { sets.first?.isUpdatable ?? true }
    var isDeletable: Bool { sets.first?.isDeletable ?? true }
}
