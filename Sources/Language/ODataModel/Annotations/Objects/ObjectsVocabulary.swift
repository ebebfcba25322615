/// The vocabulary of object packages, `Outpost.Objects.V1`. Its document is part of the code, so that a reference to it
/// is never loaded.
///
/// ```swift
/// let vocabulary = try CSDLReader.read(Array(ObjectsVocabulary.document.utf8))
/// for term in vocabulary.schemas[0].terms { print(term.name) }
/// ```
public enum ObjectsVocabulary {
    /// The namespace of the terms.
    public static let namespace = "Outpost.Objects.V1"

    /// The names of the terms, without the namespace.
    public static let terms: Set<String> = [
        "Package", "NamePrefix", "SynchronizationGroups", "SynchronizationGroup", "SynchronizationFilter",
        "SynchronizationParameters", "PersonalizationKeys", "PersonalizationStore", "EntityTypeNumber", "OperationRole",
        "ObjectQueries", "Composite", "LargeAttribute", "DynamicQueries", "LogRecords",
    ]

    /// Returns whether a term with its namespace belongs to the vocabulary.
    static func declares(_ term: String) -> Bool {
        term.hasPrefix(Vocabulary.objects) && terms.contains(String(term.dropFirst(Vocabulary.objects.count)))
    }

    private static let core = Vocabulary.core.dropLast()

    /// The document in CSDL XML.
    public static let document = """
        <?xml version="1.0" encoding="UTF-8"?>
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
          <edmx:Reference Uri="https://oasis-tcs.github.io/odata-vocabularies/vocabularies/\(core).xml">
            <edmx:Include Namespace="\(core)" Alias="Core"/>
          </edmx:Reference>
          <edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="\(namespace)" Alias="Objects">
              <Annotation Term="Core.Description" String="Terms for packages of business objects"/>

              <Term Name="Package" Type="Objects.PackageType" AppliesTo="EntityContainer">
                <Annotation Term="Core.Description" String="The name and the version of the package"/>
              </Term>
              <ComplexType Name="PackageType">
                <Property Name="Name" Type="Edm.String" Nullable="true">
                  <Annotation Term="Core.Description" String="Default: the name of the container without Container, Entities or Service at its end"/>
                </Property>
                <Property Name="Version" Type="Edm.String" Nullable="false" DefaultValue="0"/>
                <Property Name="DefaultGroup" Type="Edm.String" Nullable="false" DefaultValue="default">
                  <Annotation Term="Core.Description" String="The synchronization group of sets that name none"/>
                </Property>
              </ComplexType>

              <Term Name="NamePrefix" Type="Edm.String" AppliesTo="EntityContainer">
                <Annotation Term="Core.Description" String="The prefix of the names of generated types"/>
              </Term>

              <Term Name="SynchronizationGroups" Type="Collection(Objects.GroupType)" Nullable="false" AppliesTo="EntityContainer">
                <Annotation Term="Core.Description" String="The groups of sets that are synchronized together. A group that a set names needs no entry. The name system is reserved."/>
              </Term>
              <ComplexType Name="GroupType">
                <Property Name="Name" Type="Edm.String" Nullable="false"/>
                <Property Name="Description" Type="Edm.String" Nullable="true"/>
                <Property Name="NotifiesChanges" Type="Edm.Boolean" Nullable="false" DefaultValue="false">
                  <Annotation Term="Core.Description" String="The service notifies devices of changes"/>
                </Property>
                <Property Name="Interval" Type="Edm.Duration" Nullable="true">
                  <Annotation Term="Core.Description" String="The shortest time between two notifications"/>
                </Property>
              </ComplexType>

              <Term Name="SynchronizationGroup" Type="Edm.String" AppliesTo="EntitySet Singleton">
                <Annotation Term="Core.Description" String="The group of the set. The sets of one composite tree share a group."/>
              </Term>

              <Term Name="SynchronizationFilter" Type="Edm.String" AppliesTo="EntitySet">
                <Annotation Term="Core.Description" String="The $filter of the rows that are synchronized, with parameters after @. Default: each parameter equals its property."/>
              </Term>

              <Term Name="SynchronizationParameters" Type="Collection(Objects.ParameterType)" Nullable="false" AppliesTo="EntitySet">
                <Annotation Term="Core.Description" String="The parameters of the filter. Without any, the whole set is synchronized."/>
              </Term>
              <ComplexType Name="ParameterType">
                <Property Name="Name" Type="Edm.String" Nullable="false"/>
                <Property Name="Type" Type="Edm.String" Nullable="false">
                  <Annotation Term="Core.Description" String="A primitive type, such as Edm.String"/>
                </Property>
                <Property Name="Nullable" Type="Edm.Boolean" Nullable="false" DefaultValue="false"/>
                <Property Name="Property" Type="Edm.PropertyPath" Nullable="true">
                  <Annotation Term="Core.Description" String="The property that the parameter is compared with. Default: the property with the name of the parameter."/>
                </Property>
                <Property Name="PersonalizationKey" Type="Edm.String" Nullable="true">
                  <Annotation Term="Core.Description" String="The personalization key that gives the value if no other is given"/>
                </Property>
                <Property Name="DefaultValue" Type="Edm.String" Nullable="true">
                  <Annotation Term="Core.Description" String="The value in its lexical form if no other is given"/>
                </Property>
              </ComplexType>

              <Term Name="PersonalizationKeys" Type="Collection(Objects.KeyType)" Nullable="false" AppliesTo="EntityContainer">
                <Annotation Term="Core.Description" String="The settings of a user that parameters follow"/>
              </Term>
              <ComplexType Name="KeyType">
                <Property Name="Name" Type="Edm.String" Nullable="false"/>
                <Property Name="Type" Type="Edm.String" Nullable="false"/>
                <Property Name="Nullable" Type="Edm.Boolean" Nullable="false" DefaultValue="true"/>
                <Property Name="Scope" Type="Objects.PersonalizationScope" Nullable="false" DefaultValue="Client"/>
                <Property Name="DefaultValue" Type="Edm.String" Nullable="true"/>
              </ComplexType>
              <EnumType Name="PersonalizationScope">
                <Member Name="Client" Value="0">
                  <Annotation Term="Core.Description" String="In the store of the device"/>
                </Member>
                <Member Name="Server" Value="1">
                  <Annotation Term="Core.Description" String="At the service, for all devices of the user"/>
                </Member>
                <Member Name="Session" Value="2">
                  <Annotation Term="Core.Description" String="In memory"/>
                </Member>
              </EnumType>

              <Term Name="PersonalizationStore" Type="Edm.Boolean" Nullable="false" DefaultValue="true" AppliesTo="EntitySet">
                <Annotation Term="Core.Description" String="The set with the properties Key and Value holds the personalization keys of the scope Server"/>
              </Term>

              <Term Name="EntityTypeNumber" Type="Edm.Int32" Nullable="false" AppliesTo="EntityType">
                <Annotation Term="Core.Description" String="A number from 1 that no other type of the package has. Default: a hash of the qualified name."/>
              </Term>

              <Term Name="OperationRole" Type="Objects.RoleType" AppliesTo="Action">
                <Annotation Term="Core.Description" String="The action creates, changes or deletes entities in place of the requests of the set"/>
              </Term>
              <ComplexType Name="RoleType">
                <Property Name="Role" Type="Objects.Role" Nullable="false"/>
                <Property Name="Parameters" Type="Collection(Objects.ParameterMapping)" Nullable="false"/>
              </ComplexType>
              <EnumType Name="Role">
                <Member Name="Create" Value="0"/>
                <Member Name="Update" Value="1"/>
                <Member Name="Delete" Value="2"/>
                <Member Name="Other" Value="3"/>
              </EnumType>
              <ComplexType Name="ParameterMapping">
                <Property Name="Parameter" Type="Edm.String" Nullable="false"/>
                <Property Name="Attribute" Type="Edm.PropertyPath" Nullable="false">
                  <Annotation Term="Core.Description" String="The property that gives the value of the parameter"/>
                </Property>
              </ComplexType>

              <Term Name="ObjectQueries" Type="Collection(Objects.ObjectQueryType)" Nullable="false" AppliesTo="EntityType">
                <Annotation Term="Core.Description" String="The finders of the type beside find, load and all"/>
              </Term>
              <ComplexType Name="ObjectQueryType">
                <Property Name="Name" Type="Edm.String" Nullable="false"/>
                <Property Name="Query" Type="Edm.String" Nullable="false">
                  <Annotation Term="Core.Description" String="Query options with parameters after @"/>
                </Property>
                <Property Name="Parameters" Type="Collection(Objects.ParameterType)" Nullable="false"/>
                <Property Name="IsSingle" Type="Edm.Boolean" Nullable="false" DefaultValue="false">
                  <Annotation Term="Core.Description" String="The query finds one object"/>
                </Property>
              </ComplexType>

              <Term Name="Composite" Type="Edm.Boolean" Nullable="false" DefaultValue="true" AppliesTo="NavigationProperty">
                <Annotation Term="Core.Description" String="The related entities are parts of the entity. Default: true for contained entities and those that are deleted with the entity."/>
              </Term>

              <Term Name="LargeAttribute" Type="Edm.Boolean" Nullable="false" DefaultValue="true" AppliesTo="Property EntityType">
                <Annotation Term="Core.Description" String="The value is loaded by a request of its own, in chunks. Default: true for Edm.Stream and media entities."/>
              </Term>

              <Term Name="DynamicQueries" Type="Edm.Boolean" Nullable="false" DefaultValue="true" AppliesTo="EntityType">
                <Annotation Term="Core.Description" String="Dynamic queries may read the type. Default: true."/>
              </Term>

              <Term Name="LogRecords" Type="Edm.Boolean" Nullable="false" DefaultValue="true" AppliesTo="EntitySet">
                <Annotation Term="Core.Description" String="The set holds the log records of the service, in the group system"/>
              </Term>
            </Schema>
          </edmx:DataServices>
        </edmx:Edmx>

        """
}
