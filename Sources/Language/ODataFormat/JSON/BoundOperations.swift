import ODataModel

/// The actions and functions that can be called on an entity or a collection, which full metadata advertise (OData
/// JSON Format 4.01, 16 *Bound Function* and 17 *Bound Action*).
struct BoundOperations: Sendable {
    /// The operations by type of the binding parameter, with overloads listed once.
    private var byType: [QualifiedName: [ODataOperation]] = [:]
    /// The operations bound to collections, by entity type, with overloads listed once.
    private var byCollection: [QualifiedName: [ODataOperation]] = [:]

    /// Creates an empty set of operations.
    init() {}

    /// Collects the bound operations of a model.
    init(of model: EntityDataModel) {
        func add(_ operation: ODataOperation, to type: QualifiedName, _ all: inout [QualifiedName: [ODataOperation]]) {
            let isKnown = all[type]?.contains { $0.name == operation.name } ?? false
            if !isKnown { all[type, default: []].append(operation) }
        }
        for operation in model.schemas.flatMap(\.operations) where operation.isBound {
            switch operation.parameters.first?.type {
            case .entity(let type?)?: add(operation, to: type, &byType)
            case .collection(.entity(let type?))?: add(operation, to: type, &byCollection)
            default: continue
            }
        }
    }

    /// Returns the operations for an entity of a type, with inherited ones first.
    func offered(with type: QualifiedName, in model: EntityDataModel) -> [ODataOperation] {
        Self.offered(byType, with: type, in: model)
    }

    /// Returns the operations for a collection of entities of a type, with inherited ones first.
    func offered(withCollectionOf type: QualifiedName, in model: EntityDataModel) -> [ODataOperation] {
        Self.offered(byCollection, with: type, in: model)
    }

    private static func offered(
        _ byType: [QualifiedName: [ODataOperation]], with type: QualifiedName, in model: EntityDataModel
    ) -> [ODataOperation] {
        guard !byType.isEmpty else { return [] }
        var chain: [QualifiedName] = []
        var current: QualifiedName? = type
        while let name = current {
            chain.append(name)
            current = model.shape(name)?.baseType
        }
        var result: [ODataOperation] = []
        for name in chain.reversed() {
            for operation in byType[name] ?? [] where !result.contains(where: { $0.name == operation.name }) {
                result.append(operation)
            }
        }
        return result
    }

    /// Returns the text after a function's name in its target: the parameters, with aliases as values.
    static func parameterTemplate(_ operation: ODataOperation) -> String {
        guard operation.kind == .function else { return "" }
        return "(" + operation.parameters.dropFirst().map { "\($0.name)=@\($0.name)" }.joined(separator: ",") + ")"
    }
}

extension TypeShape {
    /// Whether the type has a stream property.
    var hasStreamProperties: Bool { primitiveTypes.contains(.stream) }
}

/// An action or function that a service advertises with an entity.
public struct AdvertisedOperation: Hashable, Sendable {
    /// The qualified name, possibly with the parameter names of a function.
    public var name: String
    /// The title for display.
    public var title: String?
    /// The URL of the operation; `nil` if the client must compute the URL.
    public var target: String?
}

extension ODataEntity {
    /// The actions and functions that the service advertises with this entity, without unavailable ones (OData JSON
    /// Format 4.01, 16 and 17).
    public var advertisedOperations: [AdvertisedOperation] {
        control.annotations.filter { $0.key.begins(with: "#") }.sorted { $0.key < $1.key }.flatMap { key, value in
            let offers: [ODataValue] = if case .collection(let values) = value { values } else { [value] }
            return offers.compactMap { offer -> AdvertisedOperation? in
                guard case .complex(let members) = offer else { return nil }
                var operation = AdvertisedOperation(name: String(key.rest(behind: "#") ?? key[...]))
                if case .string(let title)? = members["title"] { operation.title = title }
                if case .string(let target)? = members["target"] { operation.target = target }
                return operation
            }
        }
    }
}
