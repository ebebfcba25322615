import ODataModel
import ODataService

/// Predictions about the representation of a row after a client has changed it.
extension RowWriter {
    /// Returns whether a client can know the new representation of an entity without a response body. Only in this
    /// case does a response without content contain the ETag (OData Protocol 4.01, 9.1.4).
    ///
    /// - Parameters:
    ///   - after: the stored entity.
    ///   - given: the entity in the request.
    ///   - before: the entity before an update, if the request contains its ETag.
    ///   - resets: whether omitted properties receive their default values.
    ///   - plan: the plan of the entity set.
    func isForeseeable(_ after: ODataEntity, given: ODataEntity, before: ODataEntity?, resets: Bool, plan: WritePlan)
        -> Bool
    {
        let shape = after.shape
        var known = Set(shape.key.map(\.path))
        // The ETag determines the values from which it is computed.
        known.formUnion(rules.etagProperties[plan.storage.set] ?? [])
        for navigation in given.related.keys.compactMap(shape.navigationProperty) {
            known.formUnion(navigation.constraints.map(\.property))
        }
        return shape.properties.enumerated().allSatisfy { ordinal, property in
            guard let value = after.values[ordinal], property.type.primitive != .stream, !known.contains(property.name)
            else { return true }
            if before?.shape == shape, before?.values[ordinal] == value { return true }
            if given[property.name] != nil { return !property.isComputed }
            return resets && (value.isNull || value == Self.defaultValue(of: property))
        }
    }

    /// Returns whether a request contains the ETag of the changed entity, so that the client knows the entity.
    package static func namesETag(_ request: ODataRequest) -> Bool {
        request.ifMatch.map { !$0.allSatisfy { $0 == "*" || $0 == " " } } ?? false
    }

    private static func defaultValue(of property: Property) -> ODataValue? {
        guard let text = property.defaultValue, let type = property.type.primitive else { return nil }
        return try? ODataValue(lexical: text, type: type)
    }
}
