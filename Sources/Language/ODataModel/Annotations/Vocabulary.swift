/// The vocabularies whose terms this package reads and writes: the namespace of each with a trailing dot, and the
/// terms that are used in several places.
///
/// ```swift
/// property.annotation(Vocabulary.core + "MediaType")
/// ```
package enum Vocabulary {
    /// The prefix of the names of all OASIS vocabularies.
    package static let standard = "Org.OData."
    /// The prefix of the names of all SAP vocabularies.
    package static let sap = "com.sap.vocabularies."

    package static let aggregation = standard + "Aggregation.V1."
    package static let capabilities = standard + "Capabilities.V1."
    package static let core = standard + "Core.V1."
    package static let measures = standard + "Measures.V1."
    package static let repeatability = standard + "Repeatability.V1."
    package static let validation = standard + "Validation.V1."

    /// The vocabulary of object packages.
    package static let objects = ObjectsVocabulary.namespace + "."

    package static let analytics = sap + "Analytics.v1."
    package static let common = sap + "Common.v1."
    package static let communication = sap + "Communication.v1."
    package static let offline = sap + "Offline.v1."
    package static let userInterface = sap + "UI.v1."

    package static let computed = core + "Computed"
    package static let computedDefaultValue = core + "ComputedDefaultValue"
    package static let description = core + "Description"
    package static let immutable = core + "Immutable"
    package static let isURL = core + "IsURL"
    package static let longDescription = core + "LongDescription"
    package static let oDataVersions = core + "ODataVersions"
    package static let operationAvailable = core + "OperationAvailable"
    package static let optimisticConcurrency = core + "OptimisticConcurrency"
    package static let optionalParameter = core + "OptionalParameter"
    package static let schemaVersion = core + "SchemaVersion"

    package static let filterRestrictions = capabilities + "FilterRestrictions"
    package static let hidden = userInterface + "Hidden"
    package static let pattern = validation + "Pattern"
    package static let supportsRepeatability = repeatability + "Supported"
}
