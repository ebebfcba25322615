import ODataModel
import ODataService

/// Checks the values of a request against the model: types, nullability and facets (OData CSDL 4.01, 7.2). Every
/// error is a 400 with the property's path as target.
package struct ValueCheck {
    private let validator: ValueValidator

    package init(model: EntityDataModel, checks: ValueValidator.Checks = .all) {
        validator = ValueValidator(model: model, checks: checks)
    }

    /// Checks a value for a property.
    ///
    /// - Parameter path: the property's path from the entity, for error messages.
    package func check(_ value: ODataValue, for property: Property, path: String) throws {
        do throws(InvalidValueError) {
            try validator.validate(value, for: property)
        } catch {
            var error = error
            error.path = path + error.path.dropFirst(property.name.count)
            throw ODataError(status: 400, code: "InvalidValue", message: error.description, target: error.path)
        }
        try refuseNull(in: value, path)
    }

    /// Refuses text with U+0000, which ends text in SQLite.
    private func refuseNull(in value: ODataValue, _ path: String) throws(ODataError) {
        switch value {
        case .string(let text) where text.utf8.contains(0):
            throw ODataError(
                status: 400, code: "InvalidValue", message: "\(path) has U+0000 in it, which cannot be stored.",
                target: path)
        case .complex(let holder):
            for (property, inner) in zip(holder.shape.properties, holder.values) {
                if let inner { try refuseNull(in: inner, "\(path)/\(property.name)") }
            }
        default: break
        }
    }
}

extension EntityDataModel {
    /// Returns whether a capability is not denied by the annotations of an entity set or singleton.
    ///
    /// - Parameters:
    ///   - term: the name of the term, such as `InsertRestrictions`.
    ///   - property: the name of the property, such as `Insertable`.
    ///   - name: the entity set or singleton.
    package func allows(_ term: String, _ property: String, on name: String) -> Bool {
        let full = Vocabulary.capabilities + term
        // SAP attributes about reading restrict requests to the service, but a store may have the rows from another
        // request.
        let annotation =
            term == "ReadRestrictions"
            ? (entitySet(name)?.annotations ?? singleton(name)?.annotations ?? []).annotation(full)
            : entitySet(name)?.annotation(full) ?? singleton(name)?.annotation(full)
        return annotation?.value?.recordProperty(property)?.boolean ?? true
    }
}
