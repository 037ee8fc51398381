# torchlift without anything else:
#   docker build -t torchlift .
#   docker run --rm -u "$(id -u):$(id -g)" -v "$PWD:/project" torchlift migrate --check .
FROM python:3.13-slim AS build
COPY . /src
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /src

FROM python:3.13-slim
# git says which files belong to a project, which have changed, and since when.
RUN apt-get update && apt-get install --no-install-recommends -y git && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir /wheels/*.whl && rm -rf /wheels
# Whoever runs it has no home here, and what it remembers would go with it.
ENV TORCHLIFT_NO_CACHE=1
WORKDIR /project
ENTRYPOINT ["torchlift"]
CMD ["--help"]
