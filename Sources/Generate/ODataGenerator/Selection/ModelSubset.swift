import ODataModel

/// The part of a model for which code is generated: the included sets and all required types.
///
/// A type requires its base types and the types of its properties. A complex type and the type of an included
/// set also require their derived types, because a value may have any of them. The configuration decides about
/// the target types of navigation properties.
struct ModelSubset {
    /// The elements without generated code.
    private(set) var omissions: [Omission] = []
    /// The included structured types, sorted by name.
    var structuredTypes: [QualifiedName] { structured.sorted { $0.description < $1.description } }
    /// The included enumeration types, sorted by name.
    var enumTypes: [QualifiedName] { enumerations.sorted { $0.description < $1.description } }

    private let model: EntityDataModel
    let configuration: GeneratorConfiguration
    private var structured: Set<QualifiedName> = []
    private var enumerations: Set<QualifiedName> = []
    private var definitions: Set<QualifiedName> = []
    /// The names of sets, singletons and imports; `nil` for all.
    private let wanted: Set<String>?
    private var operations: [QualifiedName: Set<Int>] = [:]
    private var waiting: [QualifiedName] = []

    init(of model: EntityDataModel, _ configuration: GeneratorConfiguration) throws(GeneratorError) {
        self.model = model
        self.configuration = configuration
        wanted = try Self.checkedSets(configuration, model.container)
        try chooseRoots()
        followAll()
        chooseOperations()
        followAll()
        chooseOperations()
    }

    private static func checkedSets(
        _ configuration: GeneratorConfiguration, _ container: EntityContainer
    ) throws(GeneratorError) -> Set<String>? {
        guard let sets = configuration.sets else { return nil }
        let known =
            container.entitySets.map(\.name) + container.singletons.map(\.name)
            + container.operationImports.map(\.name)
        for name in sets where !known.contains(name) {
            let lowered = name.lowercased()
            let similar = known.filter {
                let other = $0.lowercased()
                return other == lowered || other.contains(lowered) || lowered.contains(other)
            }
            throw .unknownSet(name, similar: Array(Set(similar)).sorted())
        }
        return Set(sets)
    }

    func isWanted(_ name: String) -> Bool { wanted?.contains(name) ?? true }

    func contains(_ name: QualifiedName) -> Bool { structured.contains(name) }

    /// Returns whether code is generated for the type of a reference.
    func contains(_ type: TypeReference) -> Bool {
        switch type.element {
        case .complex(let name), .entity(let name): name.map { structured.contains($0) } ?? true
        case .enumeration(let name): enumerations.contains(name)
        default: true
        }
    }

    /// Returns the overloads of an operation for which code is generated.
    func overloads(of name: QualifiedName) -> [ODataOperation] {
        let all = model.operations(name)
        return (operations[name] ?? []).sorted().map { all[$0] }
    }

    // MARK: Types

    private mutating func chooseRoots() throws(GeneratorError) {
        guard wanted != nil else {
            for schema in model.schemas + model.includedSchemas {
                for type in schema.structuredTypes { add(type.name) }
                for type in schema.enumTypes { enumerations.insert(type.name) }
                for type in schema.typeDefinitions { definitions.insert(type.name) }
            }
            return
        }
        for set in model.container.entitySets where isWanted(set.name) { addWithDerived(set.type) }
        for singleton in model.container.singletons where isWanted(singleton.name) { addWithDerived(singleton.type) }
        for text in configuration.types {
            guard let name = QualifiedName(text) else { throw .unknownType(text) }
            if model.enumType(name) != nil {
                enumerations.insert(name)
            } else if model.structuredType(name) != nil {
                addWithDerived(name)
            } else {
                throw .unknownType(text)
            }
        }
    }

    private mutating func add(_ name: QualifiedName) {
        if model.structuredType(name) != nil, structured.insert(name).inserted { waiting.append(name) }
    }

    private mutating func addWithDerived(_ name: QualifiedName) {
        var waiting = [name]
        while let next = waiting.popLast() {
            add(next)
            waiting += model.derivedTypes(of: next)
        }
    }

    private mutating func followAll() {
        while let name = waiting.popLast() {
            guard let type = model.structuredType(name) else { continue }
            if let base = type.baseType { add(base) }
            // The types derived from these are added later in this loop.
            if type.kind == .complex { for derived in model.derivedTypes(of: name) { add(derived) } }
            for property in type.properties { add(property.type) }
            for property in type.navigationProperties {
                switch configuration.navigation {
                case .selected: break
                case .contained: if property.isContainment { add(property.target) }
                case .all: add(property.target)
                }
            }
        }
    }

    private mutating func add(_ type: TypeReference) {
        switch type.element {
        case .complex(let name?): add(name)
        case .enumeration(let name): enumerations.insert(name)
        case .typeDefinition(let name, _): definitions.insert(name)
        default: break
        }
    }

    // MARK: Operations

    /// Includes the operations bound to an included type, and those of imports, with the complex and
    /// enumeration types of their parameters. Entity types must already be included.
    private mutating func chooseOperations() {
        guard configuration.operations == .all else { return }
        var imported: Set<QualifiedName> = []
        for operation in model.container.operationImports where isWanted(operation.name) {
            imported.insert(operation.operation)
        }
        for schema in model.schemas + model.includedSchemas {
            for name in Set(schema.operations.map(\.name)) {
                for (index, operation) in model.operations(name).enumerated() {
                    guard operation.isBound ? isBoundHere(operation) : imported.contains(name) else { continue }
                    let types = operation.parameters.map(\.type) + (operation.returnType.map { [$0] } ?? [])
                    guard types.allSatisfy(hasEntityType) else { continue }
                    for type in types { add(type) }
                    operations[name, default: []].insert(index)
                }
            }
        }
    }

    private func hasEntityType(_ type: TypeReference) -> Bool {
        guard case .entity(let name?) = type.element else { return true }
        return structured.contains(name)
    }

    /// Returns whether the binding type of an operation is included. Operations on unstructured values belong
    /// to no set.
    private func isBoundHere(_ operation: ODataOperation) -> Bool {
        switch operation.parameters.first?.type.element {
        case .entity(let name?), .complex(let name?): structured.contains(name)
        case .enumeration(let name): enumerations.contains(name)
        case .primitive, .typeDefinition: wanted == nil
        default: false
        }
    }
}

/// An element of the metadata without generated code.
public struct Omission: Hashable, Sendable, CustomStringConvertible {
    /// The name of the element, such as `Shop.Order/Customer`.
    public var element: String
    /// The reason why it was left out.
    public var reason: String

    /// The name of the element and the reason.
    public var description: String { "\(element): \(reason)" }
}

extension ModelSubset {
    mutating func omit(_ element: String, _ reason: String) {
        omissions.append(Omission(element: element, reason: reason))
    }

    /// Omits a navigation property to a type for which no code is generated.
    mutating func omit(_ property: NavigationProperty, of type: StructuredType, in model: EntityDataModel) {
        let isDeclared = model.structuredType(property.target) != nil
        omit(
            "\(type.name)/\(property.name)",
            "\(property.target) is not \(isDeclared ? "among the types wanted" : "declared")")
    }
}
