/// The metadata of the operators' API (`/operator/v1/`, OData 4.01, namespace `Outpost.Operators`).
enum OperatorMetadata {
    static let namespace = "Outpost.Operators"

    static let csdl = #"""
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01">
        <edmx:Reference Uri="https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.xml">
        <edmx:Include Namespace="Org.OData.Core.V1" Alias="Core"/>
        </edmx:Reference>
        <edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Outpost.Operators">
        <EntityType Name="Application">
        <Key><PropertyRef Name="Name"/></Key>
        <Property Name="Name" Type="Edm.String" Nullable="false" MaxLength="128"/>
        <Property Name="Title" Type="Edm.String"/>
        <Property Name="Domain" Type="Edm.String"/>
        <Property Name="State" Type="Edm.String"/>
        <Property Name="ActiveVersion" Type="Edm.Int32"><Annotation Term="Core.Computed"/></Property>
        <Property Name="CreatedAt" Type="Edm.DateTimeOffset" Precision="6"><Annotation Term="Core.Computed"/></Property>
        </EntityType>
        <EntityType Name="ConfigurationVersion">
        <Key><PropertyRef Name="Application"/><PropertyRef Name="Version"/></Key>
        <Property Name="Application" Type="Edm.String" Nullable="false"/>
        <Property Name="Version" Type="Edm.Int32" Nullable="false"/>
        <Property Name="State" Type="Edm.String"/>
        <Property Name="Author" Type="Edm.String"/>
        <Property Name="Body" Type="Edm.String"/>
        <Property Name="CreatedAt" Type="Edm.DateTimeOffset" Precision="6"/>
        </EntityType>
        <EntityType Name="Destination">
        <Key><PropertyRef Name="Application"/><PropertyRef Name="Name"/></Key>
        <Property Name="Application" Type="Edm.String" Nullable="false"/>
        <Property Name="Name" Type="Edm.String" Nullable="false"/>
        <Property Name="Kind" Type="Edm.String"/>
        <Property Name="URL" Type="Edm.String"/>
        <Property Name="Dialect" Type="Edm.String"/>
        <Property Name="Authentication" Type="Edm.String"/>
        </EntityType>
        <EntityType Name="DefiningQuery">
        <Key><PropertyRef Name="Application"/><PropertyRef Name="Destination"/><PropertyRef Name="Name"/></Key>
        <Property Name="Application" Type="Edm.String" Nullable="false"/>
        <Property Name="Destination" Type="Edm.String" Nullable="false"/>
        <Property Name="Name" Type="Edm.String" Nullable="false"/>
        <Property Name="Query" Type="Edm.String"/>
        <Property Name="Group" Type="Edm.String"/>
        <Property Name="Visibility" Type="Edm.String"/>
        <Property Name="Tracking" Type="Edm.String"/>
        <Property Name="RefreshInterval" Type="Edm.Int32"/>
        </EntityType>
        <EntityType Name="Permission">
        <Key><PropertyRef Name="Application"/><PropertyRef Name="Number"/></Key>
        <Property Name="Application" Type="Edm.String" Nullable="false"/>
        <Property Name="Number" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Role" Type="Edm.String"/>
        <Property Name="Destination" Type="Edm.String"/>
        <Property Name="Set" Type="Edm.String"/>
        <Property Name="Verbs" Type="Collection(Edm.String)" Nullable="false"/>
        <Property Name="Filter" Type="Edm.String"/>
        </EntityType>
        <EntityType Name="Feed">
        <Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int64" Nullable="false"/>
        <Property Name="Application" Type="Edm.String"/>
        <Property Name="Destination" Type="Edm.String"/>
        <Property Name="Query" Type="Edm.String"/>
        <Property Name="Visibility" Type="Edm.String"/>
        <Property Name="Tracking" Type="Edm.String"/>
        <Property Name="State" Type="Edm.String"/>
        <Property Name="Note" Type="Edm.String"/>
        <Property Name="Rows" Type="Edm.Int64"/>
        <Property Name="CheckedAt" Type="Edm.DateTimeOffset" Precision="6"/>
        <Property Name="ChangedAt" Type="Edm.DateTimeOffset" Precision="6"/>
        </EntityType>
        <EntityType Name="Job">
        <Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int64" Nullable="false"/>
        <Property Name="Kind" Type="Edm.String"/>
        <Property Name="Target" Type="Edm.String"/>
        <Property Name="DueAt" Type="Edm.DateTimeOffset" Precision="6"/>
        <Property Name="Owner" Type="Edm.String"/>
        <Property Name="Tries" Type="Edm.Int32"/>
        <Property Name="Error" Type="Edm.String"/>
        </EntityType>
        <EntityType Name="Node">
        <Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.String" Nullable="false"/>
        <Property Name="Build" Type="Edm.String"/>
        <Property Name="StartedAt" Type="Edm.DateTimeOffset" Precision="6"/>
        <Property Name="SeenAt" Type="Edm.DateTimeOffset" Precision="6"/>
        <Property Name="IsDraining" Type="Edm.Boolean"/>
        </EntityType>
        <EntityType Name="User">
        <Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int64" Nullable="false"/>
        <Property Name="Application" Type="Edm.String"/>
        <Property Name="Issuer" Type="Edm.String"/>
        <Property Name="Subject" Type="Edm.String"/>
        <Property Name="Name" Type="Edm.String"/>
        <Property Name="IsLocked" Type="Edm.Boolean"/>
        <Property Name="CreatedAt" Type="Edm.DateTimeOffset" Precision="6"/>
        <NavigationProperty Name="Registrations" Type="Collection(Outpost.Operators.Registration)" Partner="User"/>
        </EntityType>
        <EntityType Name="Registration">
        <Key><PropertyRef Name="Application"/><PropertyRef Name="ID"/></Key>
        <Property Name="Application" Type="Edm.String" Nullable="false"/>
        <Property Name="ID" Type="Edm.String" Nullable="false"/>
        <Property Name="UserID" Type="Edm.Int64"/>
        <Property Name="UserName" Type="Edm.String"/>
        <Property Name="SecurityConfiguration" Type="Edm.String"/>
        <Property Name="State" Type="Edm.Int32"/>
        <Property Name="Lock" Type="Edm.String"/>
        <Property Name="IsLockConfirmed" Type="Edm.Boolean"/>
        <Property Name="DeviceType" Type="Edm.String"/>
        <Property Name="DeviceModel" Type="Edm.String"/>
        <Property Name="OSVersion" Type="Edm.String"/>
        <Property Name="AppVersion" Type="Edm.String"/>
        <Property Name="Locale" Type="Edm.String"/>
        <Property Name="PushKind" Type="Edm.String"/>
        <Property Name="Bundle" Type="Edm.String"/>
        <Property Name="TraceLevel" Type="Edm.Int32"/>
        <Property Name="KeyThumbprint" Type="Edm.String"/>
        <Property Name="CertificateSerial" Type="Edm.String"/>
        <Property Name="CertificateUntil" Type="Edm.DateTimeOffset" Precision="6"/>
        <Property Name="SeenAt" Type="Edm.DateTimeOffset" Precision="6"/>
        <Property Name="CreatedAt" Type="Edm.DateTimeOffset" Precision="6"/>
        <Property Name="Change" Type="Edm.Int64"/>
        <NavigationProperty Name="User" Type="Outpost.Operators.User" Partner="Registrations">
        <ReferentialConstraint Property="UserID" ReferencedProperty="ID"/>
        </NavigationProperty>
        </EntityType>
        <EntityType Name="Setting">
        <Key><PropertyRef Name="Application"/><PropertyRef Name="Registration"/><PropertyRef Name="Name"/></Key>
        <Property Name="Application" Type="Edm.String" Nullable="false"/>
        <Property Name="Registration" Type="Edm.String" Nullable="false"/>
        <Property Name="Name" Type="Edm.String" Nullable="false"/>
        <Property Name="Value" Type="Edm.String"/>
        <Property Name="IsReadOnly" Type="Edm.Boolean"/>
        </EntityType>
        <EntityType Name="Policy">
        <Key>
        <PropertyRef Name="Application"/><PropertyRef Name="Scope"/>
        <PropertyRef Name="Target"/><PropertyRef Name="Name"/>
        </Key>
        <Property Name="Application" Type="Edm.String" Nullable="false"/>
        <Property Name="Scope" Type="Edm.String" Nullable="false"/>
        <Property Name="Target" Type="Edm.String" Nullable="false"/>
        <Property Name="Name" Type="Edm.String" Nullable="false"/>
        <Property Name="Body" Type="Edm.String" Nullable="false"/>
        <Property Name="Version" Type="Edm.Int64"><Annotation Term="Core.Computed"/></Property>
        </EntityType>
        <EntityType Name="DirectoryUser">
        <Key><PropertyRef Name="Application"/><PropertyRef Name="Name"/></Key>
        <Property Name="Application" Type="Edm.String" Nullable="false"/>
        <Property Name="Name" Type="Edm.String" Nullable="false" MaxLength="255"/>
        <Property Name="Password" Type="Edm.String"/>
        <Property Name="Roles" Type="Collection(Edm.String)" Nullable="false"/>
        <Property Name="IsLocked" Type="Edm.Boolean"/>
        </EntityType>
        <EntityType Name="Operator">
        <Key><PropertyRef Name="Name"/></Key>
        <Property Name="Name" Type="Edm.String" Nullable="false" MaxLength="255"/>
        <Property Name="Role" Type="Edm.String"/>
        <Property Name="IsLocked" Type="Edm.Boolean"/>
        <Property Name="HasCredentials" Type="Edm.Boolean"><Annotation Term="Core.Computed"/></Property>
        <Property Name="CreatedAt" Type="Edm.DateTimeOffset" Precision="6"><Annotation Term="Core.Computed"/></Property>
        </EntityType>
        <EntityType Name="ServiceKey">
        <Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.String" Nullable="false" MaxLength="128"/>
        <Property Name="Application" Type="Edm.String"/>
        <Property Name="Roles" Type="Collection(Edm.String)" Nullable="false"/>
        <Property Name="ExpiresAt" Type="Edm.DateTimeOffset" Precision="6"/>
        <Property Name="Secret" Type="Edm.String"><Annotation Term="Core.Computed"/></Property>
        <Property Name="CreatedAt" Type="Edm.DateTimeOffset" Precision="6"><Annotation Term="Core.Computed"/></Property>
        </EntityType>
        <EntityType Name="StoredSecret">
        <Key><PropertyRef Name="Name"/></Key>
        <Property Name="Name" Type="Edm.String" Nullable="false" MaxLength="128"/>
        <Property Name="Value" Type="Edm.String"/>
        <Property Name="Version" Type="Edm.Int32"><Annotation Term="Core.Computed"/></Property>
        <Property Name="CreatedAt" Type="Edm.DateTimeOffset" Precision="6"><Annotation Term="Core.Computed"/></Property>
        </EntityType>
        <EntityType Name="Approval">
        <Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int64" Nullable="false"/>
        <Property Name="Action" Type="Edm.String"/>
        <Property Name="Body" Type="Edm.String"/>
        <Property Name="RequestedBy" Type="Edm.String"/>
        <Property Name="ApprovedBy" Type="Edm.String"/>
        <Property Name="ExpiresAt" Type="Edm.DateTimeOffset" Precision="6"/>
        </EntityType>
        <EntityType Name="AuditEntry">
        <Key><PropertyRef Name="Number"/></Key>
        <Property Name="Number" Type="Edm.Int64" Nullable="false"/>
        <Property Name="At" Type="Edm.DateTimeOffset" Precision="6"/>
        <Property Name="Actor" Type="Edm.String"/>
        <Property Name="Action" Type="Edm.String"/>
        <Property Name="Target" Type="Edm.String"/>
        <Property Name="Detail" Type="Edm.String"/>
        </EntityType>
        \#(OperatorServiceMetadata.types)
        <ComplexType Name="ActivationCode">
        <Property Name="Code" Type="Edm.String" Nullable="false"/>
        <Property Name="ExpiresAt" Type="Edm.DateTimeOffset" Precision="6" Nullable="false"/>
        </ComplexType>
        <ComplexType Name="SignInLink">
        <Property Name="Code" Type="Edm.String" Nullable="false"/>
        <Property Name="Path" Type="Edm.String" Nullable="false"/>
        </ComplexType>
        <Action Name="Lock" IsBound="true">
        <Parameter Name="registration" Type="Outpost.Operators.Registration" Nullable="false"/>
        </Action>
        <Action Name="Unlock" IsBound="true">
        <Parameter Name="registration" Type="Outpost.Operators.Registration" Nullable="false"/>
        </Action>
        <Action Name="Wipe" IsBound="true">
        <Parameter Name="registration" Type="Outpost.Operators.Registration" Nullable="false"/>
        </Action>
        <Action Name="Disconnect" IsBound="true">
        <Parameter Name="registration" Type="Outpost.Operators.Registration" Nullable="false"/>
        </Action>
        <Action Name="WipeAll" IsBound="true">
        <Parameter Name="registrations" Type="Collection(Outpost.Operators.Registration)" Nullable="false"/>
        <Parameter Name="application" Type="Edm.String" Nullable="false"/>
        <Parameter Name="ids" Type="Collection(Edm.String)" Nullable="false"/>
        <ReturnType Type="Outpost.Operators.Approval"/>
        </Action>
        <Action Name="LockUser" IsBound="true">
        <Parameter Name="user" Type="Outpost.Operators.User" Nullable="false"/>
        </Action>
        <Action Name="UnlockUser" IsBound="true">
        <Parameter Name="user" Type="Outpost.Operators.User" Nullable="false"/>
        </Action>
        <Action Name="MakeActivationCode" IsBound="true">
        <Parameter Name="application" Type="Outpost.Operators.Application" Nullable="false"/>
        <Parameter Name="user" Type="Edm.String" Nullable="false"/>
        <Parameter Name="hours" Type="Edm.Int32"><Annotation Term="Core.OptionalParameter"/></Parameter>
        <ReturnType Type="Outpost.Operators.ActivationCode" Nullable="false"/>
        </Action>
        <Action Name="Activate" IsBound="true">
        <Parameter Name="version" Type="Outpost.Operators.ConfigurationVersion" Nullable="false"/>
        <ReturnType Type="Outpost.Operators.Approval"/>
        </Action>
        <Action Name="Approve" IsBound="true">
        <Parameter Name="approval" Type="Outpost.Operators.Approval" Nullable="false"/>
        </Action>
        <Action Name="Reset" IsBound="true">
        <Parameter Name="operator" Type="Outpost.Operators.Operator" Nullable="false"/>
        </Action>
        <Action Name="MakeLink" IsBound="true">
        <Parameter Name="operator" Type="Outpost.Operators.Operator" Nullable="false"/>
        <ReturnType Type="Outpost.Operators.SignInLink" Nullable="false"/>
        </Action>
        <EntityContainer Name="Operations">
        <EntitySet Name="Applications" EntityType="Outpost.Operators.Application"/>
        <EntitySet Name="ConfigurationVersions" EntityType="Outpost.Operators.ConfigurationVersion"/>
        <EntitySet Name="Destinations" EntityType="Outpost.Operators.Destination"/>
        <EntitySet Name="DefiningQueries" EntityType="Outpost.Operators.DefiningQuery"/>
        <EntitySet Name="Permissions" EntityType="Outpost.Operators.Permission"/>
        <EntitySet Name="Feeds" EntityType="Outpost.Operators.Feed"/>
        <EntitySet Name="Jobs" EntityType="Outpost.Operators.Job"/>
        <EntitySet Name="Nodes" EntityType="Outpost.Operators.Node"/>
        <EntitySet Name="Users" EntityType="Outpost.Operators.User">
        <NavigationPropertyBinding Path="Registrations" Target="Registrations"/>
        </EntitySet>
        <EntitySet Name="Registrations" EntityType="Outpost.Operators.Registration">
        <NavigationPropertyBinding Path="User" Target="Users"/>
        </EntitySet>
        <EntitySet Name="Settings" EntityType="Outpost.Operators.Setting"/>
        <EntitySet Name="Policies" EntityType="Outpost.Operators.Policy"/>
        <EntitySet Name="DirectoryUsers" EntityType="Outpost.Operators.DirectoryUser"/>
        <EntitySet Name="Operators" EntityType="Outpost.Operators.Operator"/>
        <EntitySet Name="ServiceKeys" EntityType="Outpost.Operators.ServiceKey"/>
        <EntitySet Name="Secrets" EntityType="Outpost.Operators.StoredSecret"/>
        <EntitySet Name="Approvals" EntityType="Outpost.Operators.Approval"/>
        <EntitySet Name="Audit" EntityType="Outpost.Operators.AuditEntry"/>
        \#(OperatorServiceMetadata.sets)
        </EntityContainer>
        </Schema>
        </edmx:DataServices>
        </edmx:Edmx>
        """#
}
