import ODataModel
import ODataService

/// What the metadata say of an entity set that changes of single properties and entities must not do, by annotations of the
/// Capabilities vocabulary or attributes of SAP's alike.
struct ChangeRestrictions {
    private let set: any AnnotatedElement
    private let shape: TypeShape

    /// - Returns: `nil` where nothing is said of a set, as of what an entity contains.
    init?(of set: String, _ shape: TypeShape, in model: EntityDataModel) {
        if let element = model.entitySet(set) {
            self.set = element
        } else if let element = model.singleton(set) {
            self.set = element
        } else {
            return nil
        }
        self.shape = shape
    }

    /// Refuses values that no creation may give. Parts of the key are left to the service instead.
    ///
    /// - Parameter given: the names of the properties that the creation gives.
    /// - Throws: 400 with the property.
    func checkCreation(_ entity: ODataEntity, _ given: Set<String>) throws(ODataError) {
        let keys = Set(shape.key.map(\.path))
        let refused = paths("InsertRestrictions", "NonInsertableProperties")
        for (property, value) in zip(entity.shape.properties, entity.values) {
            guard let value, !value.isNull, given.contains(property.name), !keys.contains(property.name),
                !property.isComputed
            else { continue }
            guard refused.contains(property.name) || !property.isCreatable else { continue }
            throw ODataError(
                status: 400, code: "NotInsertable",
                message: "\(property.name) cannot be given when an entity is created, as the service's metadata say. "
                    + "Leave it out.", target: property.name)
        }
    }

    /// Refuses a change that the entity itself does not allow, and values that no change may give.
    ///
    /// - Parameters:
    ///   - given: the names of the properties that the change gives.
    ///   - patch: the values that it gives.
    ///   - before: the entity as it is.
    /// - Throws: 405 for the entity, 400 with the property.
    func checkUpdate(_ given: Set<String>, _ patch: ODataEntity, of before: ODataEntity) throws(ODataError) {
        try checkFlag("UpdateRestrictions", "Updatable", done: "changed", method: .update, entity: before)
        let refused = paths("UpdateRestrictions", "NonUpdatableProperties")
        for property in before.shape.properties where given.contains(property.name) {
            guard let value = patch[property.name], !(before[property.name].map { value.isIdentical(to: $0) } ?? false)
            else {
                continue
            }
            let isFlagged = property.updatablePath.flatMap { before[$0] } == .boolean(false)
            guard refused.contains(property.name) || isFlagged || isReadOnly(property, before) else { continue }
            throw ODataError(
                status: 400, code: "NotUpdatable",
                message: "\(property.name) cannot be changed, as the service's metadata say. Leave it out.",
                target: property.name)
        }
    }

    /// Refuses to delete an entity that does not allow it.
    ///
    /// - Throws: 405.
    func checkDeletion(_ before: ODataEntity) throws(ODataError) {
        try checkFlag("DeleteRestrictions", "Deletable", done: "deleted", method: .delete, entity: before)
    }

    /// Whether the entity has a flag for a restriction that says no (`sap:updatable-path`, `sap:deletable-path`).
    private func checkFlag(
        _ term: String, _ property: String, done: String, method: ODataRequest.Method, entity: ODataEntity
    ) throws(ODataError) {
        let record = set.annotation(Vocabulary.capabilities + term)?.value
        guard case .path(_, let path)? = record?.recordProperty(property), entity[path] == .boolean(false) else {
            return
        }
        throw ODataError(
            status: 405, code: "MethodNotAllowed",
            message: "This entity cannot be \(done): its property \(path) is false.", target: path)
    }

    /// Whether a property is hidden or read-only for an entity (`sap:field-control`, `Common.FieldControl`: 0 or 1).
    private func isReadOnly(_ property: Property, _ entity: ODataEntity) -> Bool {
        guard let path = property.fieldControlPath, case .integer(let control)? = entity[path] else { return false }
        return control == 0 || control == 1
    }

    private func paths(_ term: String, _ property: String) -> Set<String> {
        guard
            case .collection(let items)? = set.annotation(Vocabulary.capabilities + term)?.value?
                .recordProperty(property)
        else { return [] }
        return Set(
            items.compactMap { item in
                switch item {
                case .path(_, let path): path
                default: item.string
                }
            })
    }
}
