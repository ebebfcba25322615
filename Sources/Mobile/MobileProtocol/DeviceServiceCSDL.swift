extension DeviceCSDL {
    /// The types of the device services.
    static let serviceTypes = #"""
        <EntityType Name="Upload">
        <Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.String" Nullable="false" MaxLength="128"/>
        <Property Name="Kind" Type="Edm.String" Nullable="false"/>
        <Property Name="State" Type="Edm.String" Nullable="false"/>
        <Property Name="ContentType" Type="Edm.String" Nullable="false"/>
        <Property Name="Note" Type="Edm.String"/>
        <Property Name="ConsentedAt" Type="Edm.DateTimeOffset" Precision="6"/>
        <Property Name="Size" Type="Edm.Int64"/>
        <Property Name="ReceivedSize" Type="Edm.Int64" Nullable="false"/>
        <Property Name="SHA256" Type="Edm.String"/>
        <Property Name="CreatedAt" Type="Edm.DateTimeOffset" Precision="6" Nullable="false"/>
        <Property Name="ExpiresAt" Type="Edm.DateTimeOffset" Precision="6" Nullable="false"/>
        </EntityType>
        <EntityType Name="SharedDocument">
        <Key><PropertyRef Name="Scope"/><PropertyRef Name="Key"/></Key>
        <Property Name="Scope" Type="Edm.String" Nullable="false" MaxLength="16"/>
        <Property Name="Key" Type="Edm.String" Nullable="false" MaxLength="128"/>
        <Property Name="Size" Type="Edm.Int64" Nullable="false"/>
        <Property Name="UpdatedAt" Type="Edm.DateTimeOffset" Precision="6" Nullable="false"/>
        </EntityType>
        <EntityType Name="Message">
        <Key><PropertyRef Name="Number"/></Key>
        <Property Name="Number" Type="Edm.Int64" Nullable="false"/>
        <Property Name="Kind" Type="Edm.String" Nullable="false"/>
        <Property Name="Body" Type="Edm.String" Nullable="false"/>
        <Property Name="CreatedAt" Type="Edm.DateTimeOffset" Precision="6" Nullable="false"/>
        </EntityType>
        <EntityType Name="Bundle" HasStream="true">
        <Key><PropertyRef Name="Name"/><PropertyRef Name="Version"/></Key>
        <Property Name="Name" Type="Edm.String" Nullable="false" MaxLength="128"/>
        <Property Name="Version" Type="Edm.String" Nullable="false" MaxLength="128"/>
        <Property Name="Extension" Type="Edm.String" Nullable="false"/>
        <Property Name="SHA256" Type="Edm.String" Nullable="false"/>
        <Property Name="Size" Type="Edm.Int64" Nullable="false"/>
        <Property Name="Stage" Type="Edm.String" Nullable="false"/>
        <Property Name="IsDefault" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="Manifest" Type="Edm.String"/>
        </EntityType>
        <EntityType Name="LogRecord">
        <Key><PropertyRef Name="MessageId"/></Key>
        <Property Name="MessageId" Type="Edm.Int64" Nullable="false"><Annotation Term="Core.Computed"/></Property>
        <Property Name="Operation" Type="Edm.String"/>
        <Property Name="Timestamp" Type="Edm.DateTimeOffset" Precision="6"/>
        <Property Name="Component" Type="Edm.String"/>
        <Property Name="EntityKey" Type="Edm.String"/>
        <Property Name="Message" Type="Edm.String"/>
        <Property Name="Level" Type="Edm.String"/>
        <Property Name="Code" Type="Edm.Int32"/>
        <Property Name="EisCode" Type="Edm.String"/>
        <Property Name="RequestId" Type="Edm.String"/>
        </EntityType>
        <EntityType Name="PersonalizationValue">
        <Key><PropertyRef Name="Key"/></Key>
        <Property Name="Key" Type="Edm.String" Nullable="false" MaxLength="128"/>
        <Property Name="Value" Type="Edm.String"/>
        </EntityType>
        <EntityType Name="Subscription">
        <Key><PropertyRef Name="Destination"/><PropertyRef Name="Query"/></Key>
        <Property Name="Destination" Type="Edm.String" Nullable="false" MaxLength="128"/>
        <Property Name="Query" Type="Edm.String" Nullable="false" MaxLength="128"/>
        <Property Name="IsSuspended" Type="Edm.Boolean" Nullable="false"/>
        <Property Name="Parameters" Type="Edm.String"/>
        </EntityType>
        """#

    /// The sets of the device services.
    static let serviceSets = #"""
        <EntitySet Name="Uploads" EntityType="Outpost.Mobile.Upload"/>
        <EntitySet Name="Shared" EntityType="Outpost.Mobile.SharedDocument"/>
        <EntitySet Name="Messages" EntityType="Outpost.Mobile.Message"/>
        <EntitySet Name="Subscriptions" EntityType="Outpost.Mobile.Subscription"/>
        <EntitySet Name="Bundles" EntityType="Outpost.Mobile.Bundle"/>
        <EntitySet Name="LogRecords" EntityType="Outpost.Mobile.LogRecord"/>
        <EntitySet Name="PersonalizationValues" EntityType="Outpost.Mobile.PersonalizationValue"/>
        """#
}
