// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ObjectAPI
import ODataModel
import ODataQuery
import ODataService

/// The metadata that the code was generated from, as far as it needs them.
enum DeskMetadata {
    /// Read once, when they are first needed.
    static let metadata: GeneratedMetadata = GeneratedMetadata(text)

    /// Their model.
    static var model: EntityDataModel { metadata.model }

    static let text: String = #"""
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" xmlns="http://docs.oasis-open.org/odata/ns/edm" Version="4.01">
        <edmx:DataServices>
        <Schema Namespace="Desk">
        <EntityType Name="Ticket"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int64" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property><Property Name="Title" Type="Edm.String" Nullable="false" MaxLength="40"/><Property Name="Area" Type="Edm.String" Nullable="false" MaxLength="20"/></EntityType>
        <EntityType Name="Note"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int64" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property><Property Name="Owner" Type="Edm.String" MaxLength="20"/><Property Name="Text" Type="Edm.String" MaxLength="80"/></EntityType>
        <EntityType Name="Pass"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int64" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property><Property Name="Code" Type="Edm.String" MaxLength="40"/></EntityType>
        <EntityType Name="Part"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int64" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property><Property Name="Kind" Type="Edm.Int32"/><Property Name="Since" Type="Edm.Date"/></EntityType>
        <EntityType Name="LogRecord"><Key><PropertyRef Name="MessageId"/></Key><Property Name="MessageId" Type="Edm.Int64" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property><Property Name="Operation" Type="Edm.String" MaxLength="80"/><Property Name="Timestamp" Type="Edm.DateTimeOffset" Precision="3"/><Property Name="Component" Type="Edm.String" MaxLength="80"/><Property Name="EntityKey" Type="Edm.String" MaxLength="200"/><Property Name="Message" Type="Edm.String" MaxLength="2000"/><Property Name="Level" Type="Edm.String" MaxLength="10"/><Property Name="Code" Type="Edm.Int32"/><Property Name="EisCode" Type="Edm.String" MaxLength="80"/><Property Name="RequestId" Type="Edm.String" MaxLength="80"/></EntityType>
        <EntityType Name="PersonalizationValue"><Key><PropertyRef Name="Key"/></Key><Property Name="Key" Type="Edm.String" Nullable="false" MaxLength="40"/><Property Name="Value" Type="Edm.String" MaxLength="200"/></EntityType>
        <EntityContainer Name="DeskContainer"><EntitySet Name="Tickets" EntityType="Desk.Ticket"><Annotation Term="Outpost.Objects.V1.SynchronizationFilter" String="Area eq @area"/><Annotation Term="Outpost.Objects.V1.SynchronizationParameters"><Collection><Record><PropertyValue Property="Name" String="area"/><PropertyValue Property="Type" String="Edm.String"/><PropertyValue Property="PersonalizationKey" String="Area"/></Record></Collection></Annotation></EntitySet><EntitySet Name="Notes" EntityType="Desk.Note"><Annotation Term="Outpost.Objects.V1.SynchronizationGroup" String="notes"/><Annotation Term="Outpost.Objects.V1.SynchronizationFilter" String="Owner eq @owner"/><Annotation Term="Outpost.Objects.V1.SynchronizationParameters"><Collection><Record><PropertyValue Property="Name" String="owner"/><PropertyValue Property="Type" String="Edm.String"/><PropertyValue Property="PersonalizationKey" String="Owner"/></Record></Collection></Annotation></EntitySet><EntitySet Name="Passes" EntityType="Desk.Pass"><Annotation Term="Outpost.Objects.V1.SynchronizationGroup" String="notes"/><Annotation Term="Outpost.Objects.V1.SynchronizationFilter" String="Code eq @code"/><Annotation Term="Outpost.Objects.V1.SynchronizationParameters"><Collection><Record><PropertyValue Property="Name" String="code"/><PropertyValue Property="Type" String="Edm.String"/><PropertyValue Property="PersonalizationKey" String="Token"/></Record></Collection></Annotation></EntitySet><EntitySet Name="Parts" EntityType="Desk.Part"><Annotation Term="Outpost.Objects.V1.SynchronizationFilter" String="Kind eq @kind and Since ge @since"/><Annotation Term="Outpost.Objects.V1.SynchronizationParameters"><Collection><Record><PropertyValue Property="Name" String="kind"/><PropertyValue Property="Type" String="Edm.Int32"/></Record><Record><PropertyValue Property="Name" String="since"/><PropertyValue Property="Type" String="Edm.Date"/><PropertyValue Property="DefaultValue" String="2020-01-01"/></Record></Collection></Annotation></EntitySet><EntitySet Name="LogRecords" EntityType="Desk.LogRecord"><Annotation Term="Outpost.Objects.V1.LogRecords"/></EntitySet><EntitySet Name="PersonalizationValues" EntityType="Desk.PersonalizationValue"><Annotation Term="Outpost.Objects.V1.PersonalizationStore"/></EntitySet><Annotation Term="Outpost.Objects.V1.PersonalizationKeys"><Collection><Record><PropertyValue Property="Name" String="Area"/><PropertyValue Property="Type" String="Edm.String"/><PropertyValue Property="Scope" EnumMember="Outpost.Objects.V1.PersonalizationScope/Client"/><PropertyValue Property="DefaultValue" String="North"/></Record><Record><PropertyValue Property="Name" String="Owner"/><PropertyValue Property="Type" String="Edm.String"/><PropertyValue Property="Scope" EnumMember="Outpost.Objects.V1.PersonalizationScope/Server"/></Record><Record><PropertyValue Property="Name" String="Token"/><PropertyValue Property="Type" String="Edm.String"/><PropertyValue Property="Scope" EnumMember="Outpost.Objects.V1.PersonalizationScope/Session"/></Record></Collection></Annotation></EntityContainer>
        </Schema>
        </edmx:DataServices>
        </edmx:Edmx>
        """#
}
