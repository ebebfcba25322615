import ODataModel
import ODataService

/// The attributes of `http://www.sap.com/Protocols/SAPData` in V2 metadata (SAP Annotations for OData Version 2.0).
///
/// They state capabilities of sets and properties that V4 expresses with annotations. Only values that differ from
/// the defaults are written, and attributes in the model take precedence.
struct SAPAnnotations {
    let capabilities: PublishedCapabilities?

    /// Returns the model with the attributes.
    ///
    /// - Throws: ``ModelError`` if the changed model is invalid.
    func adding(to model: EntityDataModel) throws(ModelError) -> EntityDataModel {
        var schemas = model.schemas
        for index in schemas.indices {
            for type in schemas[index].structuredTypes.indices {
                let sets = model.container.entitySets.filter { $0.type == schemas[index].structuredTypes[type].name }
                for position in schemas[index].structuredTypes[type].properties.indices {
                    let property = schemas[index].structuredTypes[type].properties[position]
                    schemas[index].structuredTypes[type].properties[position].annotations = Self.completed(
                        property.annotations,
                        attributes(of: property) + Self.restrictions(on: property.name, in: sets, of: model))
                }
            }
            for set in schemas[index].container?.entitySets.indices ?? 0..<0 {
                guard let stated = schemas[index].container?.entitySets[set] else { continue }
                schemas[index].container?.entitySets[set].annotations = Self.completed(
                    stated.annotations, attributes(of: stated))
            }
        }
        return try EntityDataModel(
            schemas: schemas, version: model.version, includedSchemas: model.includedSchemas,
            references: model.references)
    }

    private static func completed(_ stated: [Annotation], _ attributes: [(String, String)]) -> [Annotation] {
        let known = Set(stated.map(\.term))
        return stated
            + attributes.map { name, value in
                Annotation(term: "sap:\(name)", value: .constant(kind: "String", text: value))
            }.filter { !known.contains($0.term) }
    }

    private func attributes(of set: EntitySet) -> [(String, String)] {
        let isChangeable = capabilities.map { !$0.isReadOnly && !$0.readOnlySets.contains(set.name) } ?? true
        var attributes: [(String, String)] = []
        if !isChangeable || !set.isCreatable { attributes.append(("creatable", "false")) }
        if !isChangeable || !set.isUpdatable { attributes.append(("updatable", "false")) }
        if !isChangeable || !set.isDeletable { attributes.append(("deletable", "false")) }
        if !set.isAddressable { attributes.append(("addressable", "false")) }
        if !set.isTopable { attributes.append(("topable", "false")) }
        if !set.isPageable { attributes.append(("pageable", "false")) }
        if !set.isCountable { attributes.append(("countable", "false")) }
        if set.requiresFilter { attributes.append(("requires-filter", "true")) }
        // By default, sets are not searchable.
        if capabilities != nil || set.isSearchable { attributes.append(("searchable", "true")) }
        return attributes + texts(of: set)
    }

    private func attributes(of property: Property) -> [(String, String)] {
        var attributes: [(String, String)] = []
        if !property.isCreatable { attributes.append(("creatable", "false")) }
        if !property.isUpdatable { attributes.append(("updatable", "false")) }
        return attributes + texts(of: property)
    }

    /// Returns the restrictions of a property, which V4 states on the set and V2 on the property.
    private static func restrictions(
        on property: String, in sets: [EntitySet], of model: EntityDataModel
    ) -> [(String, String)] {
        var attributes: [(String, String)] = []
        if sets.contains(where: { !model.isFilterable(property, in: $0.name) }) {
            attributes.append(("filterable", "false"))
        }
        if sets.contains(where: { !model.isSortable(property, in: $0.name) }) {
            attributes.append(("sortable", "false"))
        }
        if sets.contains(where: { model.isRequiredInFilter(property, in: $0.name) }) {
            attributes.append(("required-in-filter", "true"))
        }
        return attributes
    }

    /// Returns the labels for people.
    private func texts(of element: some AnnotatedElement) -> [(String, String)] {
        [("label", element.label), ("quickinfo", element.quickInfo ?? element.summary)].compactMap { name, text in
            text.map { (name, $0) }
        }
    }
}
