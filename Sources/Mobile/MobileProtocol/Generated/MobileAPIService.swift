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

    /// `Destinations`, entities of `Outpost.Mobile.Destination`.
    public var destinations: TypedCollection<MobileDestination> { TypedCollection<MobileDestination>(odataService, set: "Destinations") }

    /// `Registrations`, entities of `Outpost.Mobile.Registration`.
    public var registrations: TypedCollection<MobileRegistration> { TypedCollection<MobileRegistration>(odataService, set: "Registrations") }

    /// `Features`, the only `Outpost.Mobile.Features` of its kind.
    public var features: EntityRequest<MobileFeatures> { EntityRequest<MobileFeatures>(odataService, singleton: "Features") }

    /// `Policies`, the only `Outpost.Mobile.Policies` of its kind.
    public var policies: EntityRequest<MobilePolicies> { EntityRequest<MobilePolicies>(odataService, singleton: "Policies") }
}
