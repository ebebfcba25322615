/// The configuration that `outpost-server init` writes.
enum ConfigurationTemplate {
    static let text = """
        # The configuration of outpost-server. Check it with 'outpost-server check'.
        # A secret never stands here: write file:PATH, env:NAME or secret:NAME.

        server:
          listen: 127.0.0.1:8070            # the device API
          operator_listen: 127.0.0.1:8071   # the operators' API
          metrics_listen: 127.0.0.1:8072    # metrics for Prometheus; empty for none
        #  public_url: https://mobile.example.com/
        #  trusted_hops: 1                  # proxies in front
        #  tls:
        #    mode: own                      # own, behind-proxy, off (on loopback only)
        #    certificate: server.pem
        #    key: server.key

        #keys:
        #  master: file:master.key          # or env:OUTPOST_MASTER_KEY

        #log:
        #  level: info
        #otlp:
        #  url: http://127.0.0.1:4318/

        # An application is imported when the server does not know it. Later changes:
        #   outpost-server plan shop shop.yaml
        #   outpost-server app import shop shop.yaml
        #   outpost-server activate shop 2
        #applications:
        #  shop:
        #    title: Shop
        #    registration:
        #      device_proof: key
        #    security:
        #      staff:
        #        kind: basic                # users: outpost-server user add shop NAME
        #    destinations:
        #      northwind:
        #        url: https://erp.example.com/odata/
        #        authentication:
        #          kind: basic
        #          user: mobile
        #          secret: secret:erp
        #        queries:
        #          Products:
        #            query: Products
        #            visibility: shared
        #            refresh_interval: 15min

        """
}
