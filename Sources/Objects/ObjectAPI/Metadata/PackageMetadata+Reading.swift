import ODataModel
import OfflineOData

extension PackageDatabase {
    /// The description of the package at run time.
    public var metadata: PackageMetadata { PackageMetadata(package, store.model, store: store) }
}

extension PackageMetadata {
    init(_ package: PackageModel, _ model: EntityDataModel, store: OfflineStore) {
        let all = (model.schemas + model.includedSchemas).flatMap(\.structuredTypes)
        let types = all.filter { $0.kind == .entity && package.numbers[$0.name] != nil }
        name = package.name
        version = package.version
        groups = package.groups.values.sorted { $0.name < $1.name }
        personalizationKeys = package.keys
        entities = types.sorted { $0.name.description < $1.name.description }.compactMap { type in
            Entity(type, package, model: model, store: store)
        }
        operations = model.container.operationImports.filter { $0.kind == .action }.sorted { $0.name < $1.name }
            .flatMap { operationImport in
                model.operations(operationImport.operation).filter {
                    !$0.isBound && PackageModel.role(of: $0).kind == .other
                }.map { Operation($0, named: operationImport.name) }
            }
    }
}

extension PackageMetadata.Entity {
    fileprivate init?(
        _ type: StructuredType, _ package: PackageModel, model: EntityDataModel, store: OfflineStore
    ) {
        guard let shape = model.shape(type.name) else { return nil }
        let set = EntityPlace(type.name, model)?.entitySet
        name = type.name
        number = package.numbers[type.name] ?? 0
        isAbstract = type.isAbstract
        base = type.baseType
        entitySet = set?.name
        table = set.flatMap { store.table(ofSet: $0.name) }
        let keys = Set(shape.key.map(\.path))
        attributes = shape.properties.map { property in
            PackageMetadata.Attribute(
                name: property.name, column: set.flatMap { store.column(of: property.name, inSet: $0.name) },
                type: property.type, maxLength: property.facets.maxLength, isNullable: property.isNullable,
                isKey: keys.contains(property.name), isLarge: property.isLargeAttribute,
                isGiven: property.isServerGenerated || !(property.isCreatable || property.isUpdatable))
        }
        relations = shape.navigationProperties.map { property in
            PackageMetadata.Relation(
                name: property.name, target: property.target, isCollection: property.isCollection,
                isComposite: package.isComposite(property.name, of: type.name, in: model))
        }
        var operations = Self.verbs(of: type, set, attributes: attributes, package: package)
        operations += (package.roleActions[type.name] ?? []).map { action in
            PackageMetadata.Operation(
                action.operation, named: action.binding == .none ? action.urlName : action.operation.name.name)
        }
        operations += BoundActions(model).others(of: type.name).map {
            PackageMetadata.Operation($0, named: $0.name.name)
        }
        self.operations = operations.sorted { $0.name < $1.name }
        queries = package.queries[type.name] ?? []
        allowsDynamicQueries = type.allowsDynamicQueries
    }

    /// The verbs of the entity set, as far as no action has their role.
    private static func verbs(
        of type: StructuredType, _ set: EntitySet?, attributes: [PackageMetadata.Attribute], package: PackageModel
    ) -> [PackageMetadata.Operation] {
        guard let set else { return [] }
        let verbs: [(PackageModel.Role.Kind, Bool)] = [
            (.create, set.isCreatable && !type.isAbstract), (.update, set.isUpdatable), (.delete, set.isDeletable),
        ]
        return verbs.filter { $0.1 && package.roleActions($0.0, of: type.name).isEmpty }.map { kind, _ in
            let sent = attributes.filter { kind == .delete ? $0.isKey : !$0.isGiven && !$0.isLarge }
            let parameters = sent.map { attribute in
                PackageMetadata.Parameter(
                    name: attribute.name, type: attribute.type, isNullable: attribute.isNullable,
                    isOptional: kind == .update, attribute: attribute.name)
            }
            return PackageMetadata.Operation(
                name: kind.rawValue.lowercased(), action: nil, role: kind, parameters: parameters)
        }
    }
}

extension PackageMetadata.Operation {
    fileprivate init(_ operation: ODataOperation, named name: String) {
        let role = PackageModel.role(of: operation)
        self.name = name
        action = operation.name
        self.role = role.kind
        parameters = operation.parameters.dropFirst(operation.isBound ? 1 : 0).map { parameter in
            PackageMetadata.Parameter(
                name: parameter.name, type: parameter.type, isNullable: parameter.isNullable,
                isOptional: parameter.mayBeLeftOut, attribute: role.mapping[parameter.name])
        }
    }
}

/// The set in which the objects of a type are.
struct EntityPlace {
    let entitySet: EntitySet
    /// Whether the set has objects of other types, too.
    let isCast: Bool

    init?(_ type: QualifiedName, _ model: EntityDataModel) {
        let sets = model.container.entitySets.sorted { $0.name < $1.name }
        if let own = sets.first(where: { $0.type == type }) {
            (entitySet, isCast) = (own, false)
        } else if let base = sets.first(where: { model.isType(type, $0.type) }) {
            (entitySet, isCast) = (base, true)
        } else {
            return nil
        }
    }
}

/// The actions that are bound to objects and have no role.
struct BoundActions {
    private let model: EntityDataModel

    init(_ model: EntityDataModel) { self.model = model }

    func others(of type: QualifiedName) -> [ODataOperation] {
        (model.schemas + model.includedSchemas).flatMap(\.operations).filter { operation in
            guard operation.kind == .action, operation.isBound, PackageModel.role(of: operation).kind == .other,
                case .entity(let bound?)? = operation.parameters.first?.type
            else { return false }
            return model.isType(type, bound)
        }
    }
}
