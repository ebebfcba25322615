import ODataModel
import ODataQuery
import ODataService
import OfflineOData

/// Local changes that are made together or not at all, within ``PackageDatabase/transaction(_:)``.
///
/// It is valid only within the closure that it was given to. It has no verbs that submit or synchronize.
public final class ObjectTransaction<Package: ObjectPackage> {
    let local: LocalTransaction
    let package: PackageModel
    let model: EntityDataModel

    init(local: LocalTransaction, package: PackageModel, model: EntityDataModel) {
        self.local = local
        self.package = package
        self.model = model
    }

    // MARK: Verbs

    /// Creates an object; see ``PackageDatabase/create(_:)``.
    @discardableResult
    public func create<Object: Creatable>(_ object: Object) throws -> Object where Object.Package == Package {
        try read(insert(object.odataEntity, at: ODataURL(set: Object.objectType.entitySet), by: nil), of: object)
    }

    /// Creates an object as a related object of another one; see ``PackageDatabase/create(_:in:of:)``.
    @discardableResult
    public func create<Parent: BusinessObject, Object: Creatable>(
        _ object: Object, in path: KeyPath<Parent.Paths, NavigationCollectionPath<Object>>, of parent: Parent
    ) throws -> Object where Object.Package == Package, Parent.Package == Package {
        var url = try url(of: parent.odataEntity, try parent.requiredRow())
        url.path.segments.append(.name(Identifier(Parent.Paths(odataPath: "")[keyPath: path].odataPath), .none))
        return try read(insert(object.odataEntity, at: url, by: nil), of: object)
    }

    /// Changes an object; see ``PackageDatabase/update(_:)``.
    @discardableResult
    public func update<Object: Updatable>(_ object: Object) throws -> Object where Object.Package == Package {
        let row = try object.requiredRow()
        try change(object.odataEntity, row, by: nil)
        return try read(row, of: object)
    }

    /// Creates or changes an object with its parts; see the verb of ``PackageDatabase``.
    @discardableResult
    public func save<Object: Savable>(_ object: Object) throws -> Object where Object.Package == Package {
        object.row == nil ? try create(object) : try update(object)
    }

    /// Deletes an object; see ``PackageDatabase/delete(_:)``.
    @discardableResult
    public func delete<Object: Deletable>(_ object: Object) throws -> Object where Object.Package == Package {
        var deleted = object
        deleted.odataEntity = try delete(object.odataEntity, try object.requiredRow(), by: nil)
        return deleted
    }

    /// Saves an operation; see the verb of ``PackageDatabase``.
    @discardableResult
    public func save<Operation: ObjectOperation>(
        _ operation: Operation
    ) throws -> PendingOperation<Package> where Operation.Package == Package {
        var parameters = OperationParameters()
        operation.write(to: &parameters)
        let name = operation.target == nil ? Operation.importName : Operation.operationName.description
        return try call(name, on: operation.target, parameters)
    }

    /// Queues the call of an action.
    func call(
        _ urlName: String, on target: ObjectReference?, _ parameters: OperationParameters
    ) throws -> PendingOperation<Package> {
        var url = ODataURL()
        var set: String?
        if let target {
            guard let row = target.row else { throw ObjectError.notSaved(type: target.type) }
            guard let own = try local.url(of: row) else {
                throw ObjectError.objectNotFound(type: target.type, object: target.description)
            }
            url = own
            set = row.set
        }
        url.path.segments.append(.name(Identifier(urlName), .none))
        var request = ODataRequest(.create, url, body: .parameters(parameters.values))
        request.context.changeOptions = options(ofSet: set)
        return PendingOperation(id: try local.queueCall(request))
    }

    // MARK: Writing

    func options(ofSet set: String?, _ action: ChangeAction? = nil) -> ChangeOptions {
        // A contained entity is in the group of the set that contains it.
        let root = set.map { String($0.prefix { $0 != "/" }) }
        return ChangeOptions(
            category: root.flatMap { package.sets[$0]?.group } ?? package.defaultGroup, isHeld: true,
            action: action)
    }

    private func url(of entity: ODataEntity, _ row: RowReference) throws -> ODataURL {
        guard let url = try local.url(of: row) else {
            throw ObjectError.objectNotFound(
                type: entity.shape.name, object: entity.control.id ?? entity.shape.name.description)
        }
        return url
    }

    /// Creates an entity and its parts.
    ///
    /// - Parameter call: the action that the caller chose; `nil` for the verb of the set, or for the one action with
    ///   that role whose parameters are all attributes.
    func insert(_ entity: ODataEntity, at url: ODataURL, by call: RoleCall?) throws -> RowReference {
        var plain = try entity.localized(in: model)
        let parts = takeParts(of: &plain)
        var request = ODataRequest(
            .create, url, body: .entity(plain), preferences: Preferences(returns: .representation))
        request.context.changeOptions = options(
            ofSet: set(at: url), try RoleCalls(package, model).action(.create, of: entity.shape.name, by: call))
        guard case .entity(let created) = try local.perform(request).body, let id = created.control.id,
            let row = try local.entity(at: ODataURL(parsing: id))?.replayState?.row
        else { throw ObjectError.objectNotFound(type: entity.shape.name, object: url.description) }
        try save(parts, of: row)
        return row
    }

    /// The set to which a URL leads, as far as the path tells.
    private func set(at url: ODataURL) -> String? {
        guard case .name(let name, _)? = url.path.segments.first else { return nil }
        return name.text
    }

    /// Sends the changed attributes of an entity, and saves its parts.
    ///
    /// - Parameter call: as for ``insert(_:at:by:)``.
    func change(_ entity: ODataEntity, _ row: RowReference, by call: RoleCall?) throws {
        var plain = try entity.localized(in: model)
        let parts = takeParts(of: &plain)
        let changes = plain.changes
        if !plain.changedProperties.isEmpty || !changes.related.isEmpty || call != nil {
            var request = ODataRequest(.update, try url(of: entity, row), body: .entity(changes))
            var options = options(
                ofSet: row.set, try RoleCalls(package, model).action(.update, of: entity.shape.name, by: call))
            options.sendsEmptyUpdate = call != nil
            request.context.changeOptions = options
            try local.perform(request)
        }
        try save(parts, of: row)
    }

    /// Deletes an entity.
    ///
    /// - Parameter call: as for ``insert(_:at:by:)``.
    /// - Returns: the entity with its state.
    func delete(_ entity: ODataEntity, _ row: RowReference, by call: RoleCall?) throws -> ODataEntity {
        var request = ODataRequest(.delete, try url(of: entity, row))
        request.context.changeOptions = options(
            ofSet: row.set, try RoleCalls(package, model).action(.delete, of: entity.shape.name, by: call))
        try local.perform(request)
        var deleted = entity
        var state = try local.replayState(of: row)
        state.isDeleted = true
        deleted.replayState = state
        deleted.markUnchanged()
        return deleted
    }

    /// Takes the expanded entities out of an entity: its parts are saved by themselves, others are not changed.
    private func takeParts(of entity: inout ODataEntity) -> [(navigation: String, entities: [ODataEntity])] {
        var parts: [(navigation: String, entities: [ODataEntity])] = []
        for (name, related) in entity.related.sorted(by: { $0.key < $1.key }) {
            let entities: [ODataEntity]
            switch related {
            case .many(let members, _, _): entities = members
            case .one(let member): entities = [member]
            case .none, .references: continue
            }
            entity.related[name] = nil
            guard package.isComposite(name, of: entity.shape.name, in: model) else { continue }
            parts.append((name, entities))
        }
        return parts
    }

    /// Saves the new and the changed parts. Parts that are missing stay.
    private func save(_ parts: [(navigation: String, entities: [ODataEntity])], of row: RowReference) throws {
        for (navigation, entities) in parts {
            for entity in entities {
                if let own = entity.replayState?.row {
                    try change(entity, own, by: nil)
                } else if var url = try local.url(of: row) {
                    url.path.segments.append(.name(Identifier(navigation), .none))
                    _ = try insert(entity, at: url, by: nil)
                }
            }
        }
    }

    // MARK: Reading

    /// Reads the object of a row again, with the relations that a former value has.
    func read<Object: BusinessObject>(_ row: RowReference, of former: Object) throws -> Object {
        try Object(row: read(row, of: former.odataEntity))
    }

    /// Reads the entity of a row again, with the relations that a former value has.
    func read(_ row: RowReference, of former: ODataEntity) throws -> ODataEntity {
        var query = ResourceQuery(try url(of: former, row))
        for (name, related) in former.related.sorted(by: { $0.key < $1.key }) {
            if case .references = related { continue }
            query = query.expand(name)
        }
        guard let entity = try local.entity(at: query.url) else {
            throw ObjectError.objectNotFound(type: former.shape.name, object: query.url.description)
        }
        return entity
    }
}
