/// The types of terms and record properties of the standard vocabularies whose constants are strings in CSDL JSON,
/// such as paths, enumeration members and dates (OASIS, OData Vocabularies 4.0).
///
/// JSON documents rarely contain the vocabularies that they use. All unlisted terms are strings, booleans or
/// integers, which JSON itself distinguishes.
enum StandardVocabularies {
    /// Returns the type of a term, or of a type's property, by full name. A slash separates the type and the
    /// property.
    static func type(of name: String) -> String? { types[name] }

    /// Returns whether a type is an enumeration.
    static func isEnumeration(_ name: String) -> Bool { types[name] == enumeration }

    private static let enumeration = "enum"

    private static let types: [String: String] = {
        var result: [String: String] = [:]
        var namespace = ""
        for line in text.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":"), line.first == " " else {
                namespace = String(line)
                continue
            }
            let name = line[..<colon].drop { $0 == " " }
            let type = line[line.index(colon, offsetBy: 2)...]
            // A type of the same vocabulary is listed without its namespace.
            result["\(namespace).\(name)"] =
                type.hasPrefix("Collection(.")
                ? "Collection(\(namespace)\(type.dropFirst(11))" : type.first == "." ? namespace + type : String(type)
        }
        return result
    }()

    private static let text = """
        Org.OData.Aggregation.V1
          ApplySupported: .ApplySupportedType
          ApplySupportedDefaults: .ApplySupportedBase
          ContextDefiningProperties: Collection(Edm.PropertyPath)
          LeveledHierarchy: Collection(Edm.PropertyPath)
          RecursiveHierarchy: .RecursiveHierarchyType
          AvailableOnAggregates: .AvailableOnAggregatesType
          ApplySupportedBase/Rollup: .RollupType
          ApplySupportedType/Rollup: .RollupType
          ApplySupportedType/GroupableProperties: Collection(Edm.AnyPropertyPath)
          ApplySupportedType/AggregatableProperties: Collection(.AggregatablePropertyType)
          AggregatablePropertyType/Property: Edm.PropertyPath
          RecursiveHierarchyType/NodeProperty: Edm.PropertyPath
          RecursiveHierarchyType/ParentNavigationProperty: Edm.NavigationPropertyPath
          AvailableOnAggregatesType/RequiredProperties: Collection(Edm.PropertyPath)
          NavigationPropertyAggregationCapabilities/NavigationProperty: Edm.NavigationPropertyPath
          NavigationPropertyAggregationCapabilities/Navigability: Org.OData.Capabilities.V1.NavigationType
          NavigationPropertyAggregationCapabilities/FilterRestrictions: Org.OData.Capabilities.V1.FilterRestrictionsType
          NavigationPropertyAggregationCapabilities/SearchRestrictions: Org.OData.Capabilities.V1.SearchRestrictionsType
          NavigationPropertyAggregationCapabilities/SortRestrictions: Org.OData.Capabilities.V1.SortRestrictionsType
          NavigationPropertyAggregationCapabilities/InsertRestrictions: Org.OData.Capabilities.V1.InsertRestrictionsType
          NavigationPropertyAggregationCapabilities/UpdateRestrictions: Org.OData.Capabilities.V1.UpdateRestrictionsType
          NavigationPropertyAggregationCapabilities/DeleteRestrictions: Org.OData.Capabilities.V1.DeleteRestrictionsType
          NavigationPropertyAggregationCapabilities/ApplySupported: .ApplySupportedType
          RollupType: enum
        Org.OData.Authorization.V1
          Authorizations: Collection(.Authorization)
          ApiKey/Location: .KeyLocation
          KeyLocation: enum
        Org.OData.Capabilities.V1
          ConformanceLevel: .ConformanceLevelType
          IsolationSupported: .IsolationLevel
          ChangeTracking: .ChangeTrackingType
          CountRestrictions: .CountRestrictionsType
          NavigationRestrictions: .NavigationRestrictionsType
          FilterRestrictions: .FilterRestrictionsType
          SortRestrictions: .SortRestrictionsType
          ExpandRestrictions: .ExpandRestrictionsType
          SearchRestrictions: .SearchRestrictionsType
          InsertRestrictions: .InsertRestrictionsType
          UpdateRestrictions: .UpdateRestrictionsType
          DeleteRestrictions: .DeleteRestrictionsType
          CollectionPropertyRestrictions: Collection(.CollectionPropertyRestrictionsType)
          DefaultCapabilities: .DefaultCapabilitiesType
          ChangeTrackingType/FilterableProperties: Collection(Edm.PropertyPath)
          ChangeTrackingType/ExpandableProperties: Collection(Edm.NavigationPropertyPath)
          CountRestrictionsType/NonCountableProperties: Collection(Edm.PropertyPath)
          CountRestrictionsType/NonCountableNavigationProperties: Collection(Edm.NavigationPropertyPath)
          NavigationRestrictionsType/Navigability: .NavigationType
          NavigationRestrictionsType/RestrictedProperties: Collection(.NavigationPropertyRestriction)
          NavigationPropertyRestriction/NavigationProperty: Edm.NavigationPropertyPath
          NavigationPropertyRestriction/Navigability: .NavigationType
          NavigationPropertyRestriction/FilterRestrictions: .FilterRestrictionsType
          NavigationPropertyRestriction/SearchRestrictions: .SearchRestrictionsType
          NavigationPropertyRestriction/SortRestrictions: .SortRestrictionsType
          NavigationPropertyRestriction/InsertRestrictions: .InsertRestrictionsType
          NavigationPropertyRestriction/UpdateRestrictions: .UpdateRestrictionsType
          NavigationPropertyRestriction/DeleteRestrictions: .DeleteRestrictionsType
          FilterRestrictionsType/RequiredProperties: Collection(Edm.PropertyPath)
          FilterRestrictionsType/NonFilterableProperties: Collection(Edm.PropertyPath)
          FilterRestrictionsType/FilterExpressionRestrictions: Collection(.FilterExpressionRestrictionType)
          FilterExpressionRestrictionType/Property: Edm.PropertyPath
          SortRestrictionsType/AscendingOnlyProperties: Collection(Edm.PropertyPath)
          SortRestrictionsType/DescendingOnlyProperties: Collection(Edm.PropertyPath)
          SortRestrictionsType/NonSortableProperties: Collection(Edm.PropertyPath)
          ExpandCollectionRestrictionsType/ExpandByKeyRestrictions: .ExpandByKeyRestrictionsBase
          ExpandRestrictionsType/ExpandByKeyRestrictions: .ExpandByKeyRestrictionsBase
          ExpandRestrictionsType/NonExpandableProperties: Collection(Edm.NavigationPropertyPath)
          ExpandRestrictionsType/NonExpandableStreamProperties: Collection(Edm.PropertyPath)
          ExpandByKeyRestrictionsType/NonExpandableProperties: Collection(Edm.NavigationPropertyPath)
          ExpandByKeyRestrictionsType/NonExpandableStreamProperties: Collection(Edm.PropertyPath)
          SearchRestrictionsType/UnsupportedExpressions: .SearchExpressions
          InsertRestrictionsType/NonInsertableProperties: Collection(Edm.PropertyPath)
          InsertRestrictionsType/NonInsertableNavigationProperties: Collection(Edm.NavigationPropertyPath)
          InsertRestrictionsType/RequiredProperties: Collection(Edm.PropertyPath)
          UpdateRestrictionsBase/UpdateMethod: .HttpMethod
          UpdateRestrictionsType/UpdateMethod: .HttpMethod
          UpdateRestrictionsType/NonUpdatableProperties: Collection(Edm.PropertyPath)
          UpdateRestrictionsType/NonUpdatableNavigationProperties: Collection(Edm.NavigationPropertyPath)
          UpdateRestrictionsType/RequiredProperties: Collection(Edm.PropertyPath)
          DeleteRestrictionsType/NonDeletableNavigationProperties: Collection(Edm.NavigationPropertyPath)
          CollectionPropertyRestrictionsType/CollectionProperty: Edm.PropertyPath
          CollectionPropertyRestrictionsType/FilterRestrictions: .FilterRestrictionsType
          CollectionPropertyRestrictionsType/SearchRestrictions: .SearchRestrictionsType
          CollectionPropertyRestrictionsType/SortRestrictions: .SortRestrictionsType
          DefaultCapabilitiesType/ChangeTracking: .ChangeTrackingBase
          DefaultCapabilitiesType/CountRestrictions: .CountRestrictionsBase
          DefaultCapabilitiesType/FilterRestrictions: .FilterRestrictionsBase
          DefaultCapabilitiesType/SortRestrictions: .SortRestrictionsBase
          DefaultCapabilitiesType/ExpandRestrictions: .ExpandRestrictionsBase
          DefaultCapabilitiesType/SearchRestrictions: .SearchRestrictionsType
          DefaultCapabilitiesType/InsertRestrictions: .InsertRestrictionsBase
          DefaultCapabilitiesType/UpdateRestrictions: .UpdateRestrictionsBase
          DefaultCapabilitiesType/DeleteRestrictions: .DeleteRestrictionsBase
          ConformanceLevelType: enum
          IsolationLevel: enum
          NavigationType: enum
          SearchExpressions: enum
          HttpMethod: enum
        Org.OData.Core.V1
          Revisions: Collection(.RevisionType)
          DataModificationException: .DataModificationExceptionType
          Permissions: .Permission
          OptimisticConcurrency: Collection(Edm.PropertyPath)
          AlternateKeys: Collection(.AlternateKey)
          GeometryFeature: .GeometryFeatureType
          RevisionType/Kind: .RevisionKind
          DataModificationExceptionType/failedOperation: .DataModificationOperationKind
          AlternateKey/Key: Collection(.PropertyRef)
          PropertyRef/Name: Edm.PropertyPath
          GeometryFeatureType/geometry: Edm.Geometry
          RevisionKind: enum
          DataModificationOperationKind: enum
          Permission: enum
        Org.OData.Temporal.V1
          ApplicationTimeSupport: .ApplicationTimeSupportType
          ApplicationTimeSupportType/Timeline: .Timeline
          TimelineVisible/PeriodStart: Edm.PropertyPath
          TimelineVisible/PeriodEnd: Edm.PropertyPath
          TimelineVisible/ObjectKey: Collection(Edm.PropertyPath)
        Org.OData.Validation.V1
          MultipleOf: Edm.Decimal
          ItemsOf: Collection(.ItemsOfType)
          ItemsOfType/path: Edm.NavigationPropertyPath
          ItemsOfType/target: Edm.NavigationPropertyPath
        """
}
