// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ODataModel
import ODataQuery
import ODataService

/// `Outpost.Mobile.Mobile`: the resources of the service.
public struct MobileAPIService: TypedService {
    public var odataService: DataService

    public init(odataService: DataService) {
        self.odataService = odataService
    }

    /// `Bundles`, entities of `Outpost.Mobile.Bundle`.
    public var bundles: TypedCollection<MobileBundle> { TypedCollection<MobileBundle>(odataService, set: "Bundles") }

    /// `Destinations`, entities of `Outpost.Mobile.Destination`.
    public var destinations: TypedCollection<MobileDestination> { TypedCollection<MobileDestination>(odataService, set: "Destinations") }

    /// `LogRecords`, entities of `Outpost.Mobile.LogRecord`.
    public var logRecords: TypedCollection<MobileLogRecord> { TypedCollection<MobileLogRecord>(odataService, set: "LogRecords") }

    /// `Messages`, entities of `Outpost.Mobile.Message`.
    public var messages: TypedCollection<MobileMessage> { TypedCollection<MobileMessage>(odataService, set: "Messages") }

    /// `PersonalizationValues`, entities of `Outpost.Mobile.PersonalizationValue`.
    public var personalizationValues: TypedCollection<MobilePersonalizationValue> { TypedCollection<MobilePersonalizationValue>(odataService, set: "PersonalizationValues") }

    /// `Registrations`, entities of `Outpost.Mobile.Registration`.
    public var registrations: TypedCollection<MobileRegistration> { TypedCollection<MobileRegistration>(odataService, set: "Registrations") }

    /// `Shared`, entities of `Outpost.Mobile.SharedDocument`.
    public var shared: TypedCollection<MobileSharedDocument> { TypedCollection<MobileSharedDocument>(odataService, set: "Shared") }

    /// `Subscriptions`, entities of `Outpost.Mobile.Subscription`.
    public var subscriptions: TypedCollection<MobileSubscription> { TypedCollection<MobileSubscription>(odataService, set: "Subscriptions") }

    /// `Uploads`, entities of `Outpost.Mobile.Upload`.
    public var uploads: TypedCollection<MobileUpload> { TypedCollection<MobileUpload>(odataService, set: "Uploads") }

    /// `Features`, the only `Outpost.Mobile.Features` of its kind.
    public var features: EntityRequest<MobileFeatures> { EntityRequest<MobileFeatures>(odataService, singleton: "Features") }

    /// `Policies`, the only `Outpost.Mobile.Policies` of its kind.
    public var policies: EntityRequest<MobilePolicies> { EntityRequest<MobilePolicies>(odataService, singleton: "Policies") }
}
