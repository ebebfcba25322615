import ODataModel

/// The Swift names of all elements with generated code.
///
/// Names are assigned in alphabetical order and not in document order, so that they do not change if the
/// document is reordered. Names in the configuration are assigned first.
struct NameTable {
    /// The name of the service, such as `NorthwindService`.
    private(set) var service = ""
    /// The name of the metadata, such as `NorthwindMetadata`.
    private(set) var metadata = ""
    /// The common prefix of both names.
    let prefix: String
    /// The name of an object package, such as `Crm`.
    private(set) var package = ""
    /// The name of the database of an object package, such as `CrmDatabase`.
    private(set) var database = ""
    /// The name of the personalization keys of an object package, such as `CrmPersonalization`.
    private(set) var personalization = ""
    /// Whether the names are those of business objects.
    private let isOfObjects: Bool
    /// The prefix of the names of types.
    private let typePrefix: String
    /// The names of the subscriptions, by set.
    private var subscriptions: [String: String] = [:]

    private var types: [QualifiedName: String] = [:]
    private var protocols: [QualifiedName: String] = [:]
    private var pathProtocols: [QualifiedName: String] = [:]
    private var members: [QualifiedName: [String: String]] = [:]
    private var container: [String: String] = [:]
    private let overrides: [String: String]

    /// - Parameter package: the object package; `nil` for proxies.
    init(
        _ model: EntityDataModel, _ subset: ModelSubset, configuration: GeneratorConfiguration,
        package: PackageModel? = nil
    ) throws(GeneratorError) {
        isOfObjects = package != nil
        typePrefix = package?.namePrefix ?? ""
        overrides = configuration.names
        for (element, name) in overrides.sorted(by: { $0.key < $1.key }) where !SwiftName.isIdentifier(name) {
            throw .illegalName(name, for: element)
        }
        if let name = configuration.name, !SwiftName.isIdentifier(name) {
            throw .illegalName(name, for: "the service")
        }
        prefix = configuration.name ?? package.map { SwiftName.type($0.name) } ?? Self.prefix(model)
        try nameTypes(model, subset)
        if let package { nameSubscriptions(model, subset, of: package) }
        try nameMembers(model, subset)
        try nameContainer(model, subset)
    }

    func type(_ name: QualifiedName) -> String { types[name] ?? SwiftName.type(name.name) }

    /// Returns the protocol of a type with derived types, or `nil` if there are none.
    func protocolName(_ name: QualifiedName) -> String? { protocols[name] }

    /// Returns the protocol for the paths of a type with derived types.
    func pathProtocol(_ name: QualifiedName) -> String? { pathProtocols[name] }

    /// Returns the generic constraint for requests of a type and of its derived types.
    ///
    /// - Parameter parameter: The generic parameter in the declaration of the request.
    func constraint(_ name: QualifiedName, on parameter: String) -> String {
        protocols[name].map { "\(parameter): \($0)" } ?? "\(parameter) == \(type(name))"
    }

    func member(_ name: String, of type: QualifiedName) -> String {
        members[type]?[name] ?? SwiftName.member(name)
    }

    /// Returns the name of the subscription of a set.
    func subscription(_ set: String) -> String { subscriptions[set] ?? SwiftName.type(set) + "Subscription" }

    func set(_ name: String) -> String { container[name] ?? SwiftName.member(name) }

    /// Returns the name of an operation or of its import.
    func operation(_ name: String, _ qualified: QualifiedName) -> String {
        let name = overrides[qualified.description] ?? SwiftName.member(name)
        return ReservedNames.requests.contains(name) || ReservedNames.service.contains(name) ? name + "_" : name
    }

    func parameters(_ operation: ODataOperation) -> [String] {
        var scope = NameScope(reserved: ReservedNames.parameters)
        return operation.parameters.map { parameter in
            let override = overrides["\(operation.name)/\(parameter.name)"]
            return scope.name(override ?? SwiftName.member(parameter.name))
        }
    }

    // MARK: Giving names

    /// Returns the prefix of a model: `Northwind` for `NorthwindEntities`. If the name of the container
    /// consists of such a suffix alone, the namespace is used.
    private static func prefix(_ model: EntityDataModel) -> String {
        var name = SwiftName.type(model.container.name.name)
        for ending in ["Container", "Entities", "Context", "Service", "Default"] where name.hasSuffix(ending) {
            name.removeLast(ending.count)
        }
        if !name.isEmpty { return name }
        let namespace = model.container.name.namespace
        return SwiftName.type(namespace.split(separator: ".").last.map(String.init) ?? "OData")
    }

    private mutating func nameTypes(_ model: EntityDataModel, _ subset: ModelSubset) throws(GeneratorError) {
        let reserved = self.reserved
        var scope = NameScope(reserved: SwiftName.cannotBeQuoted)
        if isOfObjects {
            package = scope.name(prefix, "\(prefix)Package", reserved: reserved)
            database = scope.name("\(prefix)Database", reserved: reserved)
            personalization = scope.name("\(prefix)Personalization", reserved: reserved)
        } else {
            service = scope.name("\(prefix)Service", reserved: reserved)
        }
        metadata = scope.name("\(prefix)Metadata", reserved: reserved)
        let names = (subset.structuredTypes + subset.enumTypes).sorted { $0.description < $1.description }
        for name in names {
            guard let override = overrides[name.description] else { continue }
            // A keyword is refused, because the name is part of other names, which cannot contain backticks.
            guard !SwiftName.keywords.contains(override) else { throw .illegalName(override, for: name.description) }
            guard !reserved.contains(override), scope.take(override) else {
                throw .nameTaken(override, for: name.description)
            }
            types[name] = override
        }
        for name in names where types[name] == nil {
            let own = typePrefix + SwiftName.type(name.name)
            let last = name.namespace.split(separator: ".").last.map(String.init) ?? name.namespace
            types[name] = scope.name(own, SwiftName.type(last) + own, reserved: reserved)
        }
        for name in subset.structuredTypes where model.derivedTypes(of: name).contains(where: subset.contains) {
            // A business object has all attributes that it inherits itself.
            if isOfObjects, model.structuredType(name)?.kind == .entity { continue }
            protocols[name] = scope.name("\(type(name))Protocol", reserved: reserved)
            pathProtocols[name] = scope.name("\(type(name))Paths", reserved: reserved)
        }
    }

    /// The names that no generated type may have.
    private var reserved: Set<String> {
        let common = ReservedNames.swiftTypes.union(ReservedNames.libraryTypes).union(ReservedNames.nestedTypes)
        return isOfObjects ? common.union(ReservedNames.objectLibraryTypes) : common
    }

    /// The names of all generated types.
    var typeNames: Set<String> {
        Set(types.values).union(subscriptions.values).union([package, database, personalization, metadata, service])
    }

    private mutating func nameSubscriptions(_ model: EntityDataModel, _ subset: ModelSubset, of package: PackageModel) {
        var scope = NameScope(reserved: typeNames)
        let sets = model.container.entitySets.filter { subset.isWanted($0.name) && subset.contains($0.type) }
        for set in sets.sorted(by: { $0.name < $1.name }) where package.sets[set.name]?.parameters.isEmpty == false {
            let isOnly = sets.filter { $0.type == set.type }.count == 1
            let own = isOnly ? type(set.type) : typePrefix + SwiftName.type(set.name)
            subscriptions[set.name] = scope.name("\(own)Subscription", reserved: reserved)
        }
    }

    private mutating func nameMembers(_ model: EntityDataModel, _ subset: ModelSubset) throws(GeneratorError) {
        for name in subset.structuredTypes { try nameProperties(of: name, model) }
        for name in subset.enumTypes {
            guard let type = model.enumType(name) else { continue }
            var reserved = ReservedNames.enumerationMembers
            if type.isFlags { reserved.formUnion(ReservedNames.flags) }
            var scope = NameScope()
            members[name] = try named(type.members.map(\.name), of: name, scope: &scope, reserved: reserved)
        }
    }

    /// Assigns the names of a type's properties after those of its base types, which it inherits.
    private mutating func nameProperties(of name: QualifiedName, _ model: EntityDataModel) throws(GeneratorError) {
        // A loop avoids deep recursion, because the number of base types is not limited.
        var line: [StructuredType] = []
        var next: QualifiedName? = name
        while let name = next, members[name] == nil, let type = model.structuredType(name) {
            line.append(type)
            next = type.baseType
        }
        for type in line.reversed() {
            let inherited = type.baseType.flatMap { members[$0] } ?? [:]
            var scope = NameScope()
            for taken in inherited.values { _ = scope.take(taken) }
            let own = (type.properties.map(\.name) + type.navigationProperties.map(\.name))
                .filter { inherited[$0] == nil }
            let reserved =
                isOfObjects && type.kind == .entity
                ? ReservedNames.members.union(ReservedNames.objectMembers) : ReservedNames.members
            let given = try named(own, of: type.name, scope: &scope, reserved: reserved)
            members[type.name] = inherited.merging(given) { first, _ in first }
        }
    }

    private func named(
        _ names: [String], of type: QualifiedName, scope: inout NameScope, reserved: Set<String>
    ) throws(GeneratorError) -> [String: String] {
        var result: [String: String] = [:]
        let names = names.sorted()
        for name in names {
            guard let override = overrides["\(type)/\(name)"] else { continue }
            guard !reserved.contains(override), scope.take(override) else {
                throw .nameTaken(override, for: "\(type)/\(name)")
            }
            result[name] = override
        }
        for name in names where result[name] == nil {
            result[name] = scope.name(SwiftName.member(name), reserved: reserved)
        }
        return result
    }

    private mutating func nameContainer(_ model: EntityDataModel, _ subset: ModelSubset) throws(GeneratorError) {
        var scope = NameScope()
        let names = (model.container.entitySets.map(\.name) + model.container.singletons.map(\.name))
            .filter(subset.isWanted).sorted()
        for name in names {
            let element = "\(model.container.name)/\(name)"
            guard let override = overrides[element] else { continue }
            guard !reservedForSets.contains(override), scope.take(override) else {
                throw .nameTaken(override, for: element)
            }
            container[name] = override
        }
        for name in names where container[name] == nil {
            container[name] = scope.name(SwiftName.member(name), reserved: reservedForSets)
        }
    }

    private var reservedForSets: Set<String> {
        isOfObjects ? ReservedNames.packageDatabase : ReservedNames.service
    }
}
