/// The metadata of the device services in the operators' API.
enum OperatorServiceMetadata {
    static let types = #"""
        <EntityType Name="Upload">
        <Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.String" Nullable="false"/>
        <Property Name="Application" Type="Edm.String"/>
        <Property Name="Registration" Type="Edm.String"/>
        <Property Name="UserID" Type="Edm.Int64"/>
        <Property Name="Kind" Type="Edm.String"/>
        <Property Name="State" Type="Edm.String"/>
        <Property Name="ContentType" Type="Edm.String"/>
        <Property Name="Note" Type="Edm.String"/>
        <Property Name="ConsentedAt" Type="Edm.DateTimeOffset" Precision="6"/>
        <Property Name="ReceivedSize" Type="Edm.Int64"/>
        <Property Name="SHA256" Type="Edm.String"/>
        <Property Name="CreatedAt" Type="Edm.DateTimeOffset" Precision="6"/>
        <Property Name="ExpiresAt" Type="Edm.DateTimeOffset" Precision="6"/>
        </EntityType>
        <EntityType Name="SharedDocument">
        <Key>
        <PropertyRef Name="Application"/><PropertyRef Name="Scope"/><PropertyRef Name="Owner"/><PropertyRef Name="Key"/>
        </Key>
        <Property Name="Application" Type="Edm.String" Nullable="false"/>
        <Property Name="Scope" Type="Edm.String" Nullable="false"/>
        <Property Name="Owner" Type="Edm.String" Nullable="false"/>
        <Property Name="Key" Type="Edm.String" Nullable="false" MaxLength="128"/>
        <Property Name="Body" Type="Edm.String"/>
        <Property Name="Size" Type="Edm.Int64"><Annotation Term="Core.Computed"/></Property>
        <Property Name="UpdatedAt" Type="Edm.DateTimeOffset" Precision="6"><Annotation Term="Core.Computed"/></Property>
        </EntityType>
        <EntityType Name="LogRecord">
        <Key><PropertyRef Name="Number"/></Key>
        <Property Name="Number" Type="Edm.Int64" Nullable="false"/>
        <Property Name="Application" Type="Edm.String"/>
        <Property Name="Registration" Type="Edm.String"/>
        <Property Name="At" Type="Edm.DateTimeOffset" Precision="6"/>
        <Property Name="Level" Type="Edm.String"/>
        <Property Name="Message" Type="Edm.String"/>
        <Property Name="Component" Type="Edm.String"/>
        <Property Name="EntityKey" Type="Edm.String"/>
        <Property Name="Operation" Type="Edm.String"/>
        <Property Name="Code" Type="Edm.Int32"/>
        <Property Name="BackEndCode" Type="Edm.String"/>
        <Property Name="RequestID" Type="Edm.String"/>
        </EntityType>
        <EntityType Name="Bundle">
        <Key><PropertyRef Name="Application"/><PropertyRef Name="Name"/><PropertyRef Name="Version"/></Key>
        <Property Name="Application" Type="Edm.String" Nullable="false"/>
        <Property Name="Name" Type="Edm.String" Nullable="false"/>
        <Property Name="Version" Type="Edm.String" Nullable="false"/>
        <Property Name="Extension" Type="Edm.String"/>
        <Property Name="SHA256" Type="Edm.String"/>
        <Property Name="Size" Type="Edm.Int64"/>
        <Property Name="Stage" Type="Edm.String"/>
        <Property Name="IsDefault" Type="Edm.Boolean"/>
        <Property Name="Manifest" Type="Edm.String"/>
        <Property Name="CreatedAt" Type="Edm.DateTimeOffset" Precision="6"/>
        </EntityType>
        <Action Name="SendMessage" IsBound="true">
        <Parameter Name="registration" Type="Outpost.Operators.Registration" Nullable="false"/>
        <Parameter Name="kind" Type="Edm.String" Nullable="false"/>
        <Parameter Name="body" Type="Edm.String"><Annotation Term="Core.OptionalParameter"/></Parameter>
        </Action>
        """#

    static let sets = #"""
        <EntitySet Name="Uploads" EntityType="Outpost.Operators.Upload"/>
        <EntitySet Name="Bundles" EntityType="Outpost.Operators.Bundle"/>
        <EntitySet Name="LogRecords" EntityType="Outpost.Operators.LogRecord"/>
        <EntitySet Name="SharedDocuments" EntityType="Outpost.Operators.SharedDocument"/>
        """#
}
