import ODataModel
import ODataService

/// The restrictions that the metadata of an entity set impose on changes of single properties and entities,
/// declared by the Capabilities vocabulary or SAP attributes.
struct ChangeRestrictions {
    private let set: any AnnotatedElement
    private let shape: TypeShape

    /// Creates the restrictions of a set.
    ///
    /// - Returns: `nil` if the metadata declare none, as for contained entities.
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

    /// Checks that a create contains no values that must not be specified. Key values are not checked, because the
    /// service may replace them.
    ///
    /// - Parameter given: the names of the properties in the request.
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

    /// Checks that the entity can be changed, and that the change contains no values that must not be changed.
    ///
    /// - Parameters:
    ///   - given: the names of the properties in the request.
    ///   - patch: the values in the request.
    ///   - before: the current entity.
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

    /// Checks that the entity can be deleted.
    ///
    /// - Throws: 405.
    func checkDeletion(_ before: ODataEntity) throws(ODataError) {
        try checkFlag("DeleteRestrictions", "Deletable", done: "deleted", method: .delete, entity: before)
    }

    /// Checks that no property of the entity forbids the operation (`sap:updatable-path`, `sap:deletable-path`).
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

    /// Returns whether a property is hidden or read-only for an entity (`sap:field-control`, `Common.FieldControl`:
    /// 0 or 1).
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
