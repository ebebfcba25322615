extension EntityDataModel {
    /// Returns a property's facets, completed by the facets of its type definition (OData CSDL 4.01, 11 *Type
    /// Definition*).
    public func facets(of property: Property) -> Facets {
        guard case .typeDefinition(let name, _) = property.type.element, let definition = typeDefinition(name) else {
            return property.facets
        }
        var facets = property.facets
        facets.maxLength = facets.maxLength ?? definition.facets.maxLength
        facets.precision = facets.precision ?? definition.facets.precision
        facets.scale = facets.scale ?? definition.facets.scale
        facets.isUnicode = facets.isUnicode ?? definition.facets.isUnicode
        facets.srid = facets.srid ?? definition.facets.srid
        return facets
    }
}
