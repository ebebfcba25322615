import ODataModel

/// The actions and functions that can be called on an entity or a collection: what full metadata offers
/// (OData JSON Format 4.01, 16 *Bound Function* and 17 *Bound Action*).
struct BoundOperations: Sendable {
    /// By the type of the binding parameter, overloads once.
    private var byType: [QualifiedName: [ODataOperation]] = [:]
    /// The same for those that are bound to collections of entities of a type.
    private var byCollection: [QualifiedName: [ODataOperation]] = [:]

    /// None.
    init() {}

    /// Those of a model that are bound to entities.
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

    /// Those that an entity of a type offers, inherited ones first.
    func offered(with type: QualifiedName, in model: EntityDataModel) -> [ODataOperation] {
        Self.offered(byType, with: type, in: model)
    }

    /// Those that a collection of entities of a type offers, inherited ones first.
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

    /// What follows a function's name in its target: its parameters with aliases to be filled in.
    static func parameterTemplate(_ operation: ODataOperation) -> String {
        guard operation.kind == .function else { return "" }
        return "(" + operation.parameters.dropFirst().map { "\($0.name)=@\($0.name)" }.joined(separator: ",") + ")"
    }
}

extension TypeShape {
    /// Whether a property is a stream.
    var hasStreamProperties: Bool { primitiveTypes.contains(.stream) }
}

/// An action or function that a service offers with an entity.
public struct AdvertisedOperation: Hashable, Sendable {
    /// The qualified name, for functions perhaps with the names of their parameters.
    public var name: String
    /// A title for people.
    public var title: String?
    /// Where it is called; `nil` when the service lets the client compute that.
    public var target: String?
}

extension ODataEntity {
    /// The actions and functions that the service offers with this entity; those it says to be unavailable
    /// are left out (OData JSON Format 4.01, 16 and 17).
    public var advertisedOperations: [AdvertisedOperation] {
        control.annotations.filter { $0.key.hasPrefix("#") }.sorted { $0.key < $1.key }.flatMap { key, value in
            let offers: [ODataValue] = if case .collection(let values) = value { values } else { [value] }
            return offers.compactMap { offer -> AdvertisedOperation? in
                guard case .complex(let members) = offer else { return nil }
                var operation = AdvertisedOperation(name: String(key.dropFirst()))
                if case .string(let title)? = members["title"] { operation.title = title }
                if case .string(let target)? = members["target"] { operation.target = target }
                return operation
            }
        }
    }
}
