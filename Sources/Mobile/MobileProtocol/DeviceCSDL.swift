/// The metadata of the device API (`/m/v1/APPLICATION/`, OData 4.01, namespace `Outpost.Mobile`).
///
/// The server serves this document, and the proxies in `Generated` are made of it by `ODataGenerator`. A golden test
/// compares the two.
///
/// ```swift
/// let model = try CSDLReader.read(Array(DeviceCSDL.text.utf8))
/// ```
public enum DeviceCSDL {
    /// The CSDL XML document.
    public static let text = #"""
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01">
        <edmx:Reference Uri="https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.xml">
        <edmx:Include Namespace="Org.OData.Core.V1" Alias="Core"/>
        </edmx:Reference>
        <edmx:Reference Uri="https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Capabilities.V1.xml">
        <edmx:Include Namespace="Org.OData.Capabilities.V1" Alias="Capabilities"/>
        </edmx:Reference>
        <edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Outpost.Mobile">
        <EntityType Name="Registration">
        <Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.String" Nullable="false" MaxLength="128">
        <Annotation Term="Core.Immutable"/>
        </Property>
        <Property Name="SecurityConfiguration" Type="Edm.String" MaxLength="128">
        <Annotation Term="Core.Immutable"/>
        </Property>
        <Property Name="UserName" Type="Edm.String" MaxLength="255"><Annotation Term="Core.Computed"/></Property>
        <Property Name="State" Type="Edm.Int32" Nullable="false"><Annotation Term="Core.Computed"/></Property>
        <Property Name="DeviceType" Type="Edm.String" MaxLength="255"/>
        <Property Name="DeviceModel" Type="Edm.String" MaxLength="255"/>
        <Property Name="OSVersion" Type="Edm.String" MaxLength="255"/>
        <Property Name="AppVersion" Type="Edm.String" MaxLength="255"/>
        <Property Name="Locale" Type="Edm.String" MaxLength="255"/>
        <Property Name="FormFactor" Type="Edm.String" MaxLength="255"/>
        <Property Name="PushKind" Type="Edm.String" MaxLength="16"/>
        <Property Name="PushTarget" Type="Edm.String" MaxLength="4096"/>
        <Property Name="PushEnabled" Type="Edm.Boolean"/>
        <Property Name="NotificationMode" Type="Edm.String" MaxLength="16"/>
        <Property Name="KeyThumbprint" Type="Edm.String"><Annotation Term="Core.Computed"/></Property>
        <Property Name="CertificateSerial" Type="Edm.String"><Annotation Term="Core.Computed"/></Property>
        <Property Name="CertificateUntil" Type="Edm.DateTimeOffset"><Annotation Term="Core.Computed"/></Property>
        <Property Name="Bundle" Type="Edm.String"><Annotation Term="Core.Computed"/></Property>
        <Property Name="TraceLevel" Type="Edm.Int32"><Annotation Term="Core.Computed"/></Property>
        <Property Name="CreatedAt" Type="Edm.DateTimeOffset" Precision="6">
        <Annotation Term="Core.Computed"/>
        </Property>
        <NavigationProperty Name="Settings" Type="Collection(Outpost.Mobile.Setting)" ContainsTarget="true"/>
        </EntityType>
        <EntityType Name="Setting">
        <Key><PropertyRef Name="Name"/></Key>
        <Property Name="Name" Type="Edm.String" Nullable="false" MaxLength="128"/>
        <Property Name="Value" Type="Edm.String"/>
        <Property Name="IsReadOnly" Type="Edm.Boolean"><Annotation Term="Core.Computed"/></Property>
        </EntityType>
        <EntityType Name="Policies">
        <Property Name="Version" Type="Edm.Int64" Nullable="false"/>
        <Property Name="PasswordPolicy" Type="Outpost.Mobile.PasswordPolicy" Nullable="false"/>
        <Property Name="Lock" Type="Outpost.Mobile.LockOrder" Nullable="false"/>
        <Property Name="OfflineLimit" Type="Outpost.Mobile.OfflineLimit" Nullable="false"/>
        <Property Name="Security" Type="Outpost.Mobile.SecurityPolicy" Nullable="false"/>
        <Property Name="Log" Type="Outpost.Mobile.LogPolicy" Nullable="false"/>
        <Property Name="Usage" Type="Outpost.Mobile.UsagePolicy" Nullable="false"/>
        <Property Name="Crash" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="Throttling" Type="Outpost.Mobile.Throttling" Nullable="false"/>
        <Property Name="StoreUpload" Type="Outpost.Mobile.StoreUploadPolicy" Nullable="false"/>
        <Property Name="UserSwitch" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="DeviceProof" Type="Edm.String" Nullable="false"/>
        <Property Name="Bundle" Type="Edm.String"/>
        <Property Name="TraceLevel" Type="Edm.Int32" Nullable="false"/>
        </EntityType>
        <ComplexType Name="PasswordPolicy">
        <Property Name="Enabled" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="DefaultPasswordAllowed" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="MinLength" Type="Edm.Int32" Nullable="false"/>
        <Property Name="HasDigits" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="HasUpper" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="HasLower" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="HasSpecial" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="ExpirationDays" Type="Edm.Int32" Nullable="false"/>
        <Property Name="MinUniqueChars" Type="Edm.Int32" Nullable="false"/>
        <Property Name="LockTimeout" Type="Edm.Int32" Nullable="false"/>
        <Property Name="RetryLimit" Type="Edm.Int32" Nullable="false"/>
        </ComplexType>
        <ComplexType Name="LockOrder">
        <Property Name="State" Type="Edm.String" Nullable="false"/>
        <Property Name="Version" Type="Edm.Int64" Nullable="false"/>
        <Property Name="Confirmation" Type="Edm.String"/>
        </ComplexType>
        <ComplexType Name="OfflineLimit">
        <Property Name="LockDays" Type="Edm.Int32" Nullable="false"/>
        <Property Name="WipeDays" Type="Edm.Int32" Nullable="false"/>
        <Property Name="InactiveDays" Type="Edm.Int32" Nullable="false"/>
        </ComplexType>
        <ComplexType Name="SecurityPolicy">
        <Property Name="AllowPrint" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="AllowOpenURL" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="AllowCopy" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="Attestation" Type="Edm.Boolean" Nullable="false"/>
        </ComplexType>
        <ComplexType Name="LogPolicy">
        <Property Name="Upload" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="Level" Type="Edm.String" Nullable="false"/>
        <Property Name="ExpiryDays" Type="Edm.Int32" Nullable="false"/>
        </ComplexType>
        <ComplexType Name="UsagePolicy">
        <Property Name="Collect" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="Cellular" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="MaxRecords" Type="Edm.Int32" Nullable="false"/>
        </ComplexType>
        <ComplexType Name="Throttling">
        <Property Name="Enabled" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="PerMinute" Type="Edm.Int32" Nullable="false"/>
        </ComplexType>
        <ComplexType Name="StoreUploadPolicy">
        <Property Name="Enabled" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="KeepDays" Type="Edm.Int32" Nullable="false"/>
        <Property Name="MaxSize" Type="Edm.Int64" Nullable="false"/>
        </ComplexType>
        <EntityType Name="Features">
        <Property Name="Version" Type="Edm.Int64" Nullable="false"/>
        <Property Name="All" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="Switches" Type="Collection(Outpost.Mobile.FeatureSwitch)" Nullable="false"/>
        </EntityType>
        <ComplexType Name="FeatureSwitch">
        <Property Name="Name" Type="Edm.String" Nullable="false"/>
        <Property Name="IsEnabled" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="Parameters" Type="Collection(Outpost.Mobile.FeatureParameter)" Nullable="false"/>
        </ComplexType>
        <ComplexType Name="FeatureParameter">
        <Property Name="Name" Type="Edm.String" Nullable="false"/>
        <Property Name="Value" Type="Edm.String"/>
        </ComplexType>
        <EntityType Name="Destination">
        <Key><PropertyRef Name="Name"/></Key>
        <Property Name="Name" Type="Edm.String" Nullable="false" MaxLength="128"/>
        <Property Name="Dialect" Type="Edm.String" Nullable="false"/>
        <Property Name="URL" Type="Edm.String" Nullable="false"/>
        <Property Name="Queries" Type="Collection(Outpost.Mobile.DefiningQuery)" Nullable="false"/>
        <Property Name="StoreOptions" Type="Outpost.Mobile.StoreOptions" Nullable="false"/>
        </EntityType>
        <ComplexType Name="DefiningQuery">
        <Property Name="Name" Type="Edm.String" Nullable="false"/>
        <Property Name="Query" Type="Edm.String" Nullable="false"/>
        <Property Name="Group" Type="Edm.String" Nullable="false"/>
        <Property Name="Visibility" Type="Edm.String" Nullable="false"/>
        <Property Name="RefreshInterval" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Streams" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="Image" Type="Edm.String"/>
        </ComplexType>
        <ComplexType Name="StoreOptions" OpenType="true"/>
        \#(serviceTypes)
        <Action Name="Confirm" IsBound="true">
        <Parameter Name="registration" Type="Outpost.Mobile.Registration" Nullable="false"/>
        <Parameter Name="kind" Type="Edm.String" Nullable="false"/>
        <Parameter Name="version" Type="Edm.Int64" Nullable="false"/>
        <Parameter Name="confirmation" Type="Edm.String">
        <Annotation Term="Core.OptionalParameter"/>
        </Parameter>
        </Action>
        <Action Name="Enroll" IsBound="true">
        <Parameter Name="registration" Type="Outpost.Mobile.Registration" Nullable="false"/>
        <Parameter Name="request" Type="Edm.Binary" Nullable="false"/>
        <ReturnType Type="Edm.Stream" Nullable="false"/>
        </Action>
        <EntityContainer Name="Mobile">
        <EntitySet Name="Registrations" EntityType="Outpost.Mobile.Registration">
        <Annotation Term="Capabilities.UpdateRestrictions">
        <Record><PropertyValue Property="Updatable" Bool="true"/></Record>
        </Annotation>
        </EntitySet>
        <EntitySet Name="Destinations" EntityType="Outpost.Mobile.Destination">
        <Annotation Term="Capabilities.InsertRestrictions">
        <Record><PropertyValue Property="Insertable" Bool="false"/></Record>
        </Annotation>
        <Annotation Term="Capabilities.UpdateRestrictions">
        <Record><PropertyValue Property="Updatable" Bool="false"/></Record>
        </Annotation>
        <Annotation Term="Capabilities.DeleteRestrictions">
        <Record><PropertyValue Property="Deletable" Bool="false"/></Record>
        </Annotation>
        </EntitySet>
        \#(serviceSets)
        <Singleton Name="Policies" Type="Outpost.Mobile.Policies">
        <Annotation Term="Capabilities.UpdateRestrictions">
        <Record><PropertyValue Property="Updatable" Bool="false"/></Record>
        </Annotation>
        </Singleton>
        <Singleton Name="Features" Type="Outpost.Mobile.Features">
        <Annotation Term="Capabilities.UpdateRestrictions">
        <Record><PropertyValue Property="Updatable" Bool="false"/></Record>
        </Annotation>
        </Singleton>
        <Annotation Term="Capabilities.BatchSupported" Bool="true"/>
        </EntityContainer>
        </Schema>
        </edmx:DataServices>
        </edmx:Edmx>
        """#
}
