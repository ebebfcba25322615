/// The element and attribute names of CSDL, which are cheaper to compare than strings.
enum CSDLName: String, CaseIterable {
    // Documents
    case edmx = "Edmx"
    case dataServices = "DataServices"
    case reference = "Reference"
    case url = "Url"
    case include = "Include"
    case includeAnnotations = "IncludeAnnotations"
    case uri = "Uri"
    case version = "Version"
    case schema = "Schema"
    case namespace = "Namespace"
    case alias = "Alias"
    case using = "Using"
    case documentation = "Documentation"
    case summary = "Summary"
    case longDescription = "LongDescription"
    case dataServiceVersion = "DataServiceVersion"
    case maxDataServiceVersion = "MaxDataServiceVersion"
    // Types
    case entityType = "EntityType"
    case complexType = "ComplexType"
    case enumType = "EnumType"
    case typeDefinition = "TypeDefinition"
    case key = "Key"
    case propertyRef = "PropertyRef"
    case property = "Property"
    case navigationProperty = "NavigationProperty"
    case referentialConstraint = "ReferentialConstraint"
    case referencedProperty = "ReferencedProperty"
    case onDelete = "OnDelete"
    case member = "Member"
    case name = "Name"
    case type = "Type"
    case baseType = "BaseType"
    case abstract = "Abstract"
    case openType = "OpenType"
    case hasStream = "HasStream"
    case underlyingType = "UnderlyingType"
    case isFlags = "IsFlags"
    case value = "Value"
    case nullable = "Nullable"
    case maxLength = "MaxLength"
    case precision = "Precision"
    case scale = "Scale"
    case unicode = "Unicode"
    case srid = "SRID"
    case defaultValue = "DefaultValue"
    case concurrencyMode = "ConcurrencyMode"
    case collectionKind = "CollectionKind"
    case partner = "Partner"
    case containsTarget = "ContainsTarget"
    case action = "Action"
    // Operations
    case function = "Function"
    case parameter = "Parameter"
    case returnType = "ReturnType"
    case isBound = "IsBound"
    case isComposable = "IsComposable"
    case entitySetPath = "EntitySetPath"
    case isAlwaysBindable = "IsAlwaysBindable"
    case mode = "Mode"
    case isBindable = "IsBindable"
    case isSideEffecting = "IsSideEffecting"
    case httpMethod = "HttpMethod"
    // Container
    case entityContainer = "EntityContainer"
    case entitySet = "EntitySet"
    case singleton = "Singleton"
    case actionImport = "ActionImport"
    case functionImport = "FunctionImport"
    case navigationPropertyBinding = "NavigationPropertyBinding"
    case path = "Path"
    case target = "Target"
    case extends = "Extends"
    case includeInServiceDocument = "IncludeInServiceDocument"
    case isDefaultEntityContainer = "IsDefaultEntityContainer"
    // V2 and V3 associations
    case association = "Association"
    case associationSet = "AssociationSet"
    case end = "End"
    case role = "Role"
    case multiplicity = "Multiplicity"
    case principal = "Principal"
    case dependent = "Dependent"
    case relationship = "Relationship"
    case fromRole = "FromRole"
    case toRole = "ToRole"
    // Annotations
    case term = "Term"
    case valueTerm = "ValueTerm"
    case baseTerm = "BaseTerm"
    case appliesTo = "AppliesTo"
    case annotations = "Annotations"
    case annotation = "Annotation"
    case valueAnnotation = "ValueAnnotation"
    case typeAnnotation = "TypeAnnotation"
    case qualifier = "Qualifier"
    case collection = "Collection"
    case record = "Record"
    case propertyValue = "PropertyValue"
    case termNamespace = "TermNamespace"
    case targetNamespace = "TargetNamespace"
    // Constant and path expressions, which are elements and attributes alike
    case binary = "Binary"
    case bool = "Bool"
    case date = "Date"
    case dateTime = "DateTime"
    case dateTimeOffset = "DateTimeOffset"
    case decimal = "Decimal"
    case duration = "Duration"
    case enumMember = "EnumMember"
    case float = "Float"
    case guid = "Guid"
    case int = "Int"
    case string = "String"
    case time = "Time"
    case timeOfDay = "TimeOfDay"
    case annotationPath = "AnnotationPath"
    case anyPropertyPath = "AnyPropertyPath"
    case modelElementPath = "ModelElementPath"
    case navigationPropertyPath = "NavigationPropertyPath"
    case propertyPath = "PropertyPath"
    case labeledElementReference = "LabeledElementReference"
    case urlRef = "UrlRef"
    /// Any other name; the document keeps its text.
    case other = ""

    private static let byText = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    /// Creates the case with the name `text`, or `other`.
    init(_ text: String) { self = Self.byText[text] ?? .other }

    /// Whether an element or attribute of this name is a constant expression (OData CSDL 4.01, 14.3).
    var isConstant: Bool {
        switch self {
        case .binary, .bool, .date, .dateTime, .dateTimeOffset, .decimal, .duration, .enumMember, .float, .guid, .int,
            .string, .time, .timeOfDay:
            true
        default: false
        }
    }

    /// Whether an element with this name has character data, as constants, paths and documentation have.
    var mayHaveText: Bool { isConstant || isPath || self == .summary || self == .longDescription || self == .other }

    /// Whether an element or attribute of this name is a path expression (OData CSDL 4.01, 14.4.1).
    var isPath: Bool {
        switch self {
        case .annotationPath, .anyPropertyPath, .modelElementPath, .navigationPropertyPath, .path, .propertyPath,
            .labeledElementReference:
            true
        default: false
        }
    }
}
