import Secrets

print(Secret("never printed"))
