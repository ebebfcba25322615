import ODataModel
import ODataQuery
import ODataService

/// A filter that removes null or default values and annotations from a response (`omit-values`,
/// `include-annotations`; OData Protocol 4.01, 8.2.8.4 and 8.2.8.6).
///
/// It applies to responses with decoded entities. For encoded responses the provider applies the preferences itself
/// and states them in the applied preferences.
struct RequestedContent {
    private let omitted: Preference.OmittedValues?
    private let annotations: AnnotationFilter?
    private let annotationText: String?

    /// Creates the filter of a request.
    init(_ request: ODataRequest) {
        // A delta contains changes to null.
        let isDelta = request.url.options.deltaToken != nil
        omitted = isDelta ? nil : request.preferences.omitValues.flatMap { Preference.OmittedValues(rawValue: $0) }
        annotationText = request.preferences.includeAnnotations
        annotations = annotationText.map { AnnotationFilter($0) }
    }

    /// Returns the filtered response, with the applied preferences.
    func apply(to response: ODataResponse) -> ODataResponse {
        guard omitted != nil || annotations != nil else { return response }
        var response = response
        switch response.body {
        case .entity(let entity): response.body = .entity(reduced(entity))
        case .page(var page):
            page.entities = page.entities.map(reduced)
            response.body = .page(page)
        // An encoded page has no annotations to filter. Its provider applies `omit-values` itself.
        case .encoded where omitted == nil: break
        default: return response
        }
        let stated = response.preferencesApplied
        if let omitted, !stated.contains(where: { $0.hasPrefix("omit-values") }) {
            response.preferencesApplied.append("omit-values=\(omitted.rawValue)")
        }
        if let annotationText, !stated.contains(where: { $0.hasPrefix("include-annotations") }) {
            response.preferencesApplied.append("include-annotations=\(HeaderTokens.quote(annotationText))")
        }
        return response
    }

    private func reduced(_ entity: ODataEntity) -> ODataEntity {
        var entity = entity
        if let annotations, !entity.control.annotations.isEmpty {
            entity.control.annotations = entity.control.annotations.filter { annotations.includes(key: $0.key) }
        }
        let annotated = Set(
            entity.control.annotations.keys.compactMap { $0.parts(between: "@").first.map(String.init) })
        for (ordinal, property) in entity.shape.properties.enumerated() {
            guard let value = entity.values[ordinal] else { continue }
            if let omitted, omitted.omits(value, of: property), !annotated.contains(property.name) {
                entity.values[ordinal] = nil
            } else {
                entity.values[ordinal] = reduced(value)
            }
        }
        if !entity.dynamicProperties.isEmpty {
            entity.dynamicProperties = entity.dynamicProperties.filter { name, value in
                omitted == nil || !value.isNull || annotated.contains(name)
            }
        }
        if !entity.related.isEmpty { entity.related = entity.related.mapValues(reduced) }
        return entity
    }

    private func reduced(_ value: ODataValue) -> ODataValue {
        switch value {
        case .complex(let complex): .complex(reduced(complex))
        case .collection(let members): .collection(members.map(reduced))
        default: value
        }
    }

    private func reduced(_ related: RelatedEntities) -> RelatedEntities {
        switch related {
        case .one(let entity): .one(reduced(entity))
        case .many(let entities, let count, let nextLink):
            .many(entities.map(reduced), count: count, nextLink: nextLink)
        default: related
        }
    }
}

extension Preference.OmittedValues {
    /// Returns whether a property with this value may be omitted.
    fileprivate func omits(_ value: ODataValue, of property: Property) -> Bool {
        switch (self, property.defaultValue) {
        case (.nulls, _), (.defaults, nil): value.isNull
        case (.defaults, let text?):
            property.type.primitive.flatMap { try? ODataValue(lexical: text, type: $0) } == value
        }
    }
}
