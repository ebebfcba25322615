import MobileClient

func usesMobileClient() async throws {
    let profile = try ConnectionProfile(
        host: "edge.example", relayTemplate: "/client/rs_client.dll", farm: "shop.Farm", application: "shop")
    print(profile.deviceAPI)
}
